import { createProgress } from './progress.ts'
import { type Run, type RunOptions, runRequests } from './run-requests.ts'
import type { Turn } from './workload.ts'

export interface SendOptions extends Omit<RunOptions, 'progress'> {
  readonly label: string
}

const SHOWN_FAILURES = 5

/** Sends turns to one base URL, showing progress and failures. */
export async function runWorkload(turns: readonly Turn[], { label, ...options }: SendOptions): Promise<Run> {
  const progress = createProgress(label, turns.length)
  const run = await runRequests(turns, { ...options, progress }).finally(() => progress.stop())
  options.interrupted.throwIfAborted()
  for (const { turn, reason } of run.failures.slice(0, SHOWN_FAILURES)) {
    process.stderr.write(`${label}: request ${turn.id} failed: ${reason}\n`)
  }
  if (run.failures.length > 0) process.stderr.write(`${label}: ${run.failures.length} requests failed\n`)
  return run
}
