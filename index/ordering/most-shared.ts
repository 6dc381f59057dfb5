import type { SimilarRequest } from './demand-history.ts'

/**
 * The most that one past request has in common with a context, in the unit of sizes: by rank, `speakersOf` gives the past
 * requests that hold the block. A later request that is as one of the past can share no more, in whatever order. O(16 · n).
 */
export function mostShared(sizes: readonly number[], speakersOf: (rank: number) => readonly SimilarRequest[]): number {
  const shared = new Map<SimilarRequest, number>()
  for (const [rank, size] of sizes.entries()) {
    for (const request of speakersOf(rank)) shared.set(request, (shared.get(request) ?? 0) + size)
  }
  return Math.max(0, ...shared.values())
}
