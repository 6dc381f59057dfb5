import type { SimilarRequest } from './demand-history.ts'

/** The blocks of a context by rank, with who asked for them. */
export interface SpokenContext {
  readonly sizes: readonly number[]
  /** by rank: the past requests that hold the block */
  readonly speakersOf: (rank: number) => readonly SimilarRequest[]
}

/**
 * For each past request that would have shared more with a context sent in `order` than in rank order: how much more, in
 * the unit of sizes. A request shares the blocks that stand first and that it holds all of: it can be ordered so that
 * it begins with them. The past stands for what is to come, as far as it is remembered. O(16 · n) for n blocks.
 */
export function sharedWithPast(order: readonly number[], context: SpokenContext): number[] {
  const asRanked = sharesOf([...order.keys()], context)
  return [...sharesOf(order, context)]
    .map(([request, share]) => share - (asRanked.get(request) ?? 0))
    .filter((more) => more > 0)
}

/** What each past request holds of the beginning. */
function sharesOf(order: readonly number[], { sizes, speakersOf }: SpokenContext): Map<SimilarRequest, number> {
  const shares = new Map<SimilarRequest, number>()
  let holders: ReadonlySet<SimilarRequest> | undefined
  let length = 0
  for (const rank of order) {
    const speakers = speakersOf(rank)
    const before = holders
    holders = new Set(before ? speakers.filter((request) => before.has(request)) : speakers)
    if (holders.size === 0) return shares
    length += sizes[rank]!
    for (const request of holders) shares.set(request, length)
  }
  return shares
}
