import { execFileSync } from 'node:child_process'
import { dirname, join } from 'node:path'

const script = join(import.meta.dirname, '..', 'engine-adapters', 'sglang', 'plugin', 'tests', 'engine', 'setup.sh')

/** Makes an environment in which SGLang runs on a CPU, and a small model for it, once. Reports progress on stderr. */
export function setUpSglang(): { readonly python: string; readonly model: string } {
  const said = execFileSync(script, { encoding: 'utf8', stdio: ['ignore', 'pipe', 2] })
  const python = said.trim().split('\n').at(-1)!
  // the environment and the model are in the same folder
  return { python, model: join(dirname(python), '..', '..', 'test-model') }
}
