import type { BlockId, Context } from '#index/context-block.ts'

/** Weight of positional alignment in Equation 1, as in all of ContextPilot's experiments (§7). */
const alpha = 0.001

/**
 * Returns the distance between two contexts (ContextPilot, Equation 1): the share of blocks they do not have in common,
 * plus `alpha` times the mean difference of the positions of those they have. It is 1 if they share nothing. A block
 * that occurs twice in a context counts at its first position.
 */
export function contextDistance(a: Context, b: Context): number {
  const places = firstPlaces(b)
  let shared = 0
  let displacement = 0
  for (const [block, place] of firstPlaces(a)) {
    const other = places.get(block)
    if (other === undefined) continue
    shared += 1
    displacement += Math.abs(place - other)
  }
  return shared === 0 ? 1 : 1 - shared / Math.max(a.length, b.length) + (alpha * displacement) / shared
}

const known = new WeakMap<Context, ReadonlyMap<BlockId, number>>()

/** Returns the first position of each block in a context, which is never changed. */
export function firstPlaces(context: Context): ReadonlyMap<BlockId, number> {
  const places = known.get(context) ?? new Map(context.map((block, place) => [block, place] as const).reverse())
  known.set(context, places)
  return places
}
