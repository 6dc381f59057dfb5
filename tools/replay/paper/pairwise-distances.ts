import type { BlockId, Context } from '#index/context-block.ts'
import { distanceOf, firstPlaces } from './context-distance.ts'

/** Returns the index of the pair i ≠ j in a condensed matrix: the lower triangle, row by row. */
export function pairIndex(i: number, j: number): number {
  return i > j ? (i * (i - 1)) / 2 + j : (j * (j - 1)) / 2 + i
}

/**
 * Computes the distances of all pairs (ContextPilot, Algorithm 4, line 2; Equation 1) as a condensed matrix. Only pairs
 * that share a block need computing; all others have distance 1.
 */
export function pairwiseDistances(contexts: readonly Context[], alpha: number): Float64Array {
  const distances = new Float64Array((contexts.length * (contexts.length - 1)) / 2).fill(1)
  const holders = new Map<BlockId, { context: number; place: number }[]>()
  const shared = new Uint32Array(contexts.length)
  const displaced = new Uint32Array(contexts.length)
  contexts.forEach((context, i) => {
    const overlapping: number[] = []
    for (const [block, place] of firstPlaces(context)) {
      const known = holders.get(block) ?? []
      if (known.length === 0) holders.set(block, known)
      for (const { context: j, place: other } of known) {
        if (shared[j] === 0) overlapping.push(j)
        shared[j]! += 1
        displaced[j]! += Math.abs(place - other)
      }
      known.push({ context: i, place })
    }
    for (const j of overlapping) {
      const longest = Math.max(context.length, contexts[j]!.length)
      distances[pairIndex(i, j)] = distanceOf(shared[j]!, displaced[j]!, longest, alpha)
      shared[j] = 0
      displaced[j] = 0
    }
  })
  return distances
}
