import { setTimeout as pause } from 'node:timers/promises'

/** Resolves with what the work resolves with, or with undefined if that takes longer than so many milliseconds. */
export async function within<T>(milliseconds: number, work: Promise<T>): Promise<T | undefined> {
  const over = new AbortController()
  const late = pause(milliseconds, undefined, { signal: over.signal }).catch(() => undefined)
  return Promise.race([work, late]).finally(() => over.abort())
}
