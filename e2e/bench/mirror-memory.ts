import { CacheMirror } from '#index/mirror/cache-mirror.ts'
import { HistoryWindow } from '#index/ordering/demand-history.ts'
import { createPrompts, type Sharing } from './sent-prompts.ts'

/*
 * `node --expose-gc --import tsx e2e/bench/mirror-memory.ts REQUESTS SHARING`: measures the memory of a mirror with its
 * ordering indexes, in a separate process: the growth of the heap and of array buffers outside it. Prints JSON.
 */

function memoryUsed(): number {
  for (let i = 0; i < 3; i++) globalThis.gc!()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

function fill(requests: number, sharing: Sharing): CacheMirror {
  const history = new HistoryWindow(1 << 20)
  const mirror = new CacheMirror({ maxRequests: requests, maxBlocks: 20 * requests, history })
  const next = createPrompts(mirror, requests, sharing)
  for (let i = 0; i < requests; i++) mirror.apply({ type: 'sent', ...next(i) })
  return mirror
}

const [requests, sharing] = [Number(process.argv[2]), process.argv[3] as Sharing]
fill(1_000, sharing)
await new Promise((resolve) => setImmediate(resolve))
const before = memoryUsed()
const mirror = fill(requests, sharing)
const bytes = memoryUsed() - before
process.stdout.write(
  `${JSON.stringify({ requests: [...mirror.requestIds()].length, bytes, estimate: mirror.statistics.bytes })}\n`,
)
