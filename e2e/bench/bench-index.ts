import type { Context, RequestId } from '#index/context-block.ts'
import type { OrderingIndex } from '#index/ordering/ordering-index.ts'
import { type Corpus, createDraw } from './draw-contexts.ts'
import { type Percentiles, toPercentiles } from './percentiles.ts'

/** Time to search, order and insert one request, in microseconds. */
export interface IndexFigures extends Percentiles {
  readonly stored: number
  readonly nodes: number
}

const measured = 20_000

/** Fills an index and measures what one more request costs; for each one added, the oldest is removed. */
export function benchIndex(index: OrderingIndex, stored: number, corpus: Corpus): IndexFigures {
  const draw = createDraw(corpus)
  const sizes = new Array<number>(corpus.blocksPerContext).fill(2_000)
  let next = 0
  for (; next < stored; next++) sendOrdered(index, draw(), sizes, toRequestId(next))
  const durations: number[] = []
  for (; next < stored + measured; next++) {
    const context = draw()
    const request = toRequestId(next)
    durations.push(timeMicroseconds(() => sendOrdered(index, context, sizes, request)))
    index.remove(toRequestId(next - stored))
  }
  return { stored, nodes: index.nodes, ...toPercentiles(durations) }
}

/** Half as many blocks as there are contexts. */
export function corpusFor(contexts: number, blocksPerContext = 15): Corpus {
  return { blocks: contexts / 2, blocksPerContext }
}

/** Does what the proxy does with a request: orders it, then inserts it as sent. */
export function sendOrdered(
  index: OrderingIndex,
  context: Context,
  sizes: readonly number[],
  request: RequestId,
): void {
  const { order } = index.order(context, sizes)
  const ordered = order.map((place) => context[place]!)
  const orderedSizes = order.map((place) => sizes[place]!)
  index.insert(ordered, orderedSizes, request)
}

export function timeMicroseconds(work: () => void): number {
  const started = process.hrtime.bigint()
  work()
  return Number(process.hrtime.bigint() - started) / 1000
}

/** Makes an id as long as those the proxy assigns. */
export function toRequestId(number: number): RequestId {
  return `00000000-0000-4000-8000-${String(number).padStart(12, '0')}` as RequestId
}
