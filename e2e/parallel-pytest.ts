import { availableParallelism } from 'node:os'
import { keptBytecode } from './kept-bytecode.ts'

const processes = Math.min(availableParallelism(), 4)

/** Returns what Python runs to test a folder, with a file's tests in one process, so that they share its engine. */
export function parallelPytest(...folders: readonly string[]): string[] {
  const parallel = ['-n', String(processes), '--dist', 'loadfile']
  return ['-m', 'pytest', '-q', '-rs', '-p', 'no:cacheprovider', ...parallel, ...folders]
}

/** The environment for it. A process computes on one processor, since several processes do. */
export const parallelPytestEnv: NodeJS.ProcessEnv = { ...process.env, OMP_NUM_THREADS: '1', ...keptBytecode }
