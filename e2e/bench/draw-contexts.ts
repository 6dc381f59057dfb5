import { type BlockId, type Context, toBlockId } from '#index/context-block.ts'

/** The corpus that contexts are drawn from. */
export interface Corpus {
  readonly blocks: number
  readonly blocksPerContext: number
  /** this many additional blocks, each at the front of a context with probability 1/2; default: none */
  readonly hotBlocks?: number
}

/**
 * Draws contexts of distinct blocks. As in retrieval, a few blocks are in many contexts and most are in few: block k
 * has a weight of 1 / (k + 10) (Zipf). The sequence is always the same.
 */
export function createDraw({ blocks, blocksPerContext, hotBlocks = 0 }: Corpus): () => Context {
  const cumulative = new Float64Array(blocks)
  let total = 0
  for (let k = 0; k < blocks; k++) {
    total += 1 / (k + 10)
    cumulative[k] = total
  }
  const random = createRandom(42)
  const ids: BlockId[] = []
  const idOf = (k: number): BlockId => {
    ids[k] ??= toBlockId(`block ${k}`)
    return ids[k]
  }
  return () => {
    const context = new Set<BlockId>()
    for (let hot = 0; hot < hotBlocks; hot++) if (random() < 0.5) context.add(idOf(blocks + hot))
    while (context.size < blocksPerContext) context.add(idOf(rankOf(cumulative, random() * total)))
    return [...context]
  }
}

/** mulberry32: the run must be repeatable. */
function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
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
