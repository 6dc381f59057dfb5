import type { BlockId, Context, RequestId } from '#index/context-block.ts'
import type { OrderingIndex } from '#index/ordering-index.ts'
import { type Percentiles, toPercentiles } from './percentiles.ts'

/** Search, order and insert of one request, in microseconds. */
export interface IndexFigures extends Percentiles {
  readonly stored: number
  readonly nodes: number
}

const blocksPerContext = 15
const measured = 20_000
const sizes: readonly number[] = new Array(blocksPerContext).fill(2_000)

/**
 * Fills an index with contexts of 15 blocks and measures what one more request costs; the oldest is removed for each
 * that is added. Blocks are drawn so that few are in many requests and most in few, as retrieval does (Zipf).
 */
export function benchIndex(index: OrderingIndex, stored: number): IndexFigures {
  const draw = createDraw(stored / 2)
  let next = 0
  const send = (): void => {
    const context = draw()
    const { order } = index.order(context, sizes)
    const ordered = order.map((place) => context[place]!)
    index.insert(ordered, sizes, String(next++) as RequestId)
  }
  for (let i = 0; i < stored; i++) send()
  const durations: number[] = []
  for (let i = 0; i < measured; i++) {
    const started = process.hrtime.bigint()
    send()
    durations.push(Number(process.hrtime.bigint() - started) / 1000)
    index.remove(String(next - 1 - stored) as RequestId)
  }
  return { stored, nodes: index.nodes, ...toPercentiles(durations) }
}

/** Contexts of different blocks out of `blocks`, block k with a weight of 1 / (k + 10); always the same sequence. */
function createDraw(blocks: number): () => Context {
  const cumulative = new Float64Array(blocks)
  let total = 0
  for (let k = 0; k < blocks; k++) {
    total += 1 / (k + 10)
    cumulative[k] = total
  }
  let state = 42
  const random = (): number => {
    // mulberry32: the run must be repeatable
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
  return () => {
    const context = new Set<BlockId>()
    while (context.size < blocksPerContext) context.add(`block-${rankOf(cumulative, random() * total)}` as BlockId)
    return [...context]
  }
}

function rankOf(cumulative: Float64Array, weight: number): number {
  let low = 0
  let high = cumulative.length - 1
  while (low < high) {
    const middle = (low + high) >> 1
    if (cumulative[middle]! < weight) low = middle + 1
    else high = middle
  }
  return low
}
