import type { BlockId, Context } from '#index/context-block.ts'

/** Weight of positional alignment in Equation 1; ContextPilot uses 0.001 in all its experiments (§7). */
export const defaultAlpha = 0.001

/**
 * Returns the distance between two contexts (ContextPilot, Equation 1): the share of blocks they do not have in common,
 * plus `alpha` times the mean difference of the positions of those they have. It is 1 if they share nothing. A block
 * that occurs twice in a context counts at its first position.
 */
export function contextDistance(a: Context, b: Context, alpha: number = defaultAlpha): number {
  const places = firstPlaces(b)
  let shared = 0
  let displacement = 0
  for (const [block, place] of firstPlaces(a)) {
    const other = places.get(block)
    if (other === undefined) continue
    shared += 1
    displacement += Math.abs(place - other)
  }
  return distanceOf(shared, displacement, Math.max(a.length, b.length), alpha)
}

/** Equation 1 from the number of shared blocks, the sum of their displacements and the length of the longer context. */
export function distanceOf(shared: number, displacement: number, longest: number, alpha: number): number {
  return shared === 0 ? 1 : 1 - shared / longest + (alpha * displacement) / shared
}

/** Returns the first position of each block in a context. */
export function firstPlaces(context: Context): Map<BlockId, number> {
  const places = new Map<BlockId, number>()
  for (let place = 0; place < context.length; place++) {
    if (!places.has(context[place]!)) places.set(context[place]!, place)
  }
  return places
}
