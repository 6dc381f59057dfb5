import { availableParallelism, homedir } from 'node:os'
import { join } from 'node:path'

const processes = Math.min(availableParallelism(), 4)

/** Returns what Python runs to test a folder, with a file's tests in one process, so that they share its engine. */
export function parallelPytest(...folders: readonly string[]): string[] {
  const parallel = ['-n', String(processes), '--dist', 'loadfile']
  return ['-m', 'pytest', '-q', '-rs', '-p', 'no:cacheprovider', ...parallel, ...folders]
}

/**
 * The environment for it. A process computes on one processor, since several processes do. Bytecode is kept, outside the
 * checkout: without it each process that imports an engine compiles thousands of modules.
 */
export const parallelPytestEnv: NodeJS.ProcessEnv = {
  ...process.env,
  OMP_NUM_THREADS: '1',
  PYTHONPYCACHEPREFIX: join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'reprise', 'pycache'),
}
