import type { SimilarRequest } from './demand-history.ts'

/**
 * Returns the largest total size of blocks that a single past request shares with a context. `speakersOf` returns the
 * past requests with the block at a rank. A later request like one of these can share no more, in any order. O(16 · n).
 */
export function mostShared(sizes: readonly number[], speakersOf: (rank: number) => readonly SimilarRequest[]): number {
  const shared = new Map<SimilarRequest, number>()
  for (const [rank, size] of sizes.entries()) {
    for (const request of speakersOf(rank)) shared.set(request, (shared.get(request) ?? 0) + size)
  }
  return Math.max(0, ...shared.values())
}
