import { PrefixOrdering } from '#index/ordering/prefix-ordering.ts'
import { benchIndex, corpusFor } from './bench-index.ts'

/*
 * `node --expose-gc --import tsx e2e/bench/index-memory.ts CONTEXTS BLOCKS`: the memory of an index, in a process of its
 * own. Prints the figures of `benchIndex`, what it holds and what the index says of itself, as JSON.
 */

/** Objects, and the numbers that lie in arrays beside the heap. */
function heldBytes(): number {
  // what the first run frees may hold what the second one can free
  for (let i = 0; i < 3; i++) globalThis.gc!()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

const [contexts, blocksPerContext] = process.argv.slice(2).map(Number) as [number, number]

/** Code and feedback of the compiler are not the index's memory. */
function warmUp(): void {
  benchIndex(new PrefixOrdering(), 1_000, corpusFor(1_000))
}

warmUp()
// what the frame of a call held is free only after it
await new Promise((resolve) => setImmediate(resolve))
const before = heldBytes()
const index = new PrefixOrdering()
const figures = benchIndex(index, contexts, corpusFor(contexts, blocksPerContext))
const held = heldBytes() - before
process.stdout.write(`${JSON.stringify({ ...figures, held, bytes: index.bytes })}\n`)
