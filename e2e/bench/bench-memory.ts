import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { IndexFigures } from './bench-index.ts'

/** The time and memory that an index costs. */
export interface MemoryFigures extends IndexFigures {
  /** growth of the heap and of the array buffers outside it, in bytes */
  readonly held: number
  /** the index's own estimate */
  readonly bytes: number
}

const script = join(import.meta.dirname, 'index-memory.ts')

/** Measures an index in a separate process, which has nothing else on its heap. */
export async function benchMemory(contexts: number, blocksPerContext: number): Promise<MemoryFigures> {
  // Node's default heap limit may be 2 GB
  const flags = ['--expose-gc', '--max-old-space-size=6144', '--import', 'tsx']
  const args = [...flags, script, String(contexts), String(blocksPerContext)]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  return JSON.parse(stdout)
}
