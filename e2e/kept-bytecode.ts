import { homedir } from 'node:os'
import { join } from 'node:path'

/**
 * Has Python keep its bytecode, outside the checkout, also where the machine's environment forbids it: without it each
 * process that imports an engine compiles thousands of modules.
 */
export const keptBytecode: Readonly<Record<string, string>> = {
  PYTHONDONTWRITEBYTECODE: '',
  PYTHONPYCACHEPREFIX:
    process.env.PYTHONPYCACHEPREFIX ||
    join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'reprise', 'pycache'),
}
