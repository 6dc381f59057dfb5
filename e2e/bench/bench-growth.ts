import { type Context, toBlockId } from '#index/context-block.ts'
import { PrefixOrdering } from '#index/ordering/prefix-ordering.ts'
import { benchIndex, corpusFor, sendOrdered, timeMicroseconds, toRequestId } from './bench-index.ts'
import { type Percentiles, toPercentiles } from './percentiles.ts'

/** Time to search, order and insert one request in a badly shaped tree, in microseconds. */
export interface GrowthFigures extends Percentiles {
  readonly shape: string
  readonly size: string
}

const measured = 1_000

/** Measures one request in the tree shapes that would stall a careless search. */
export function* benchGrowth(): Generator<GrowthFigures> {
  for (const contexts of [10_000, 100_000]) {
    const corpus = { ...corpusFor(contexts), hotBlocks: 4 }
    const figures = benchIndex(new PrefixOrdering(), contexts, corpus)
    yield { shape: 'four blocks in half of all requests each', size: `${contexts} contexts`, ...figures }
  }
  for (const children of [1_000, 100_000]) {
    yield { shape: 'one node with many children', size: `${children} children`, ...benchWideNode(children) }
  }
  for (const levels of [130, 1_300]) {
    yield { shape: 'a chain, every request one block longer', size: `${levels} levels`, ...benchChain(levels) }
  }
}

/** All requests begin with the same block and share no other. */
function benchWideNode(children: number): Percentiles {
  const index = new PrefixOrdering()
  const sizes = new Array<number>(15).fill(2_000)
  const contextOf = (request: number): Context => [
    toBlockId('shared'),
    ...Array.from({ length: 14 }, (_, i) => toBlockId(`${request}/${i}`)),
  ]
  for (let i = 0; i < children; i++) index.insert(contextOf(i), sizes, toRequestId(i))
  return toPercentiles(
    Array.from({ length: measured }, (_, i) => {
      const context = contextOf(children + i)
      return timeMicroseconds(() => sendOrdered(index, context, sizes, toRequestId(children + i)))
    }),
  )
}

/** Measures the hundred requests after the first `levels`. */
function benchChain(levels: number): Percentiles {
  const index = new PrefixOrdering()
  const blocks = Array.from({ length: levels + 100 }, (_, i) => toBlockId(`turn ${i}`))
  const sizes = blocks.map(() => 2_000)
  const durations = blocks.map((_, i) => {
    const context = blocks.slice(0, i + 1)
    return timeMicroseconds(() => sendOrdered(index, context, sizes.slice(0, i + 1), toRequestId(i)))
  })
  return toPercentiles(durations.slice(-100))
}
