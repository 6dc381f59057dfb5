import { PrefixOrdering } from '#index/ordering/prefix-ordering.ts'
import { benchIndex, corpusFor } from './bench-index.ts'

/*
 * `node --expose-gc --import tsx e2e/bench/index-memory.ts CONTEXTS BLOCKS`: measures the memory of an index in a
 * separate process. Prints as JSON the figures of `benchIndex`, the memory held, and the index's own estimate.
 */

/** Returns the bytes of all objects, and of the array buffers outside the heap. */
function heldBytes(): number {
  // objects freed by one collection may have kept alive what only the next can free
  for (let i = 0; i < 3; i++) globalThis.gc!()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

const [contexts, blocksPerContext] = process.argv.slice(2).map(Number) as [number, number]

/** Compiled code and type feedback do not count as the index's memory, so they are created first. */
function warmUp(): void {
  benchIndex(new PrefixOrdering(), 1_000, corpusFor(1_000))
}

warmUp()
// values held by a stack frame can be collected only after the call has returned
await new Promise((resolve) => setImmediate(resolve))
const before = heldBytes()
const index = new PrefixOrdering()
const figures = benchIndex(index, contexts, corpusFor(contexts, blocksPerContext))
const held = heldBytes() - before
process.stdout.write(`${JSON.stringify({ ...figures, held, bytes: index.bytes })}\n`)
