import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { IndexFigures } from './bench-index.ts'

/** What an index of so many contexts costs and takes. */
export interface MemoryFigures extends IndexFigures {
  /** growth of the heap and of the arrays beside it, in bytes */
  readonly held: number
  /** what the index says of itself */
  readonly bytes: number
}

const script = join(import.meta.dirname, 'index-memory.ts')

/** Measures an index in a process of its own, which has nothing else on its heap. */
export async function benchMemory(contexts: number, blocksPerContext: number): Promise<MemoryFigures> {
  // Node's own limit may be 2 GB
  const flags = ['--expose-gc', '--max-old-space-size=6144', '--import', 'tsx']
  const args = [...flags, script, String(contexts), String(blocksPerContext)]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  return JSON.parse(stdout)
}
