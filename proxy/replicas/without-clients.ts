import type { Replica } from './replica.ts'

/** How often a replica is looked at for being idle. */
export const idleCheckMilliseconds = 25

/** Runs a task beside the clients of a replica: until one of them needs it. */
export async function withoutClients<Result>(
  replica: Pick<Replica, 'requests'>,
  closing: AbortSignal,
  task: (signal: AbortSignal) => Promise<Result>,
): Promise<Result | 'interrupted'> {
  const interrupted = new AbortController()
  const watch = setInterval(() => {
    if (replica.requests > 0) interrupted.abort()
  }, idleCheckMilliseconds).unref()
  try {
    const result = await task(AbortSignal.any([interrupted.signal, closing]))
    return interrupted.signal.aborted || closing.aborted ? 'interrupted' : result
  } finally {
    clearInterval(watch)
  }
}
