import type { BlockId, Context } from '../context-block.ts'
import { addTo } from '../group-by.ts'

/**
 * Context ordering (ContextPilot, Algorithm 2): the blocks of the matched prefix first, in its order, then the
 * remaining blocks in their original order. Returns the order as positions in `context` (a permutation of 0 … n − 1).
 * Blocks of the prefix that are not in the context are left out; a block that occurs twice is kept twice.
 */
export function alignContext(context: Context, prefix: Context): number[] {
  // positions in reverse order, so that the first one can be popped from the end in constant time
  const places = new Map<BlockId, number[]>()
  for (let place = context.length - 1; place >= 0; place--) {
    addTo(places, context[place]!, place)
  }
  const order: number[] = []
  for (const block of prefix) {
    const place = places.get(block)?.pop()
    if (place !== undefined) order.push(place)
  }
  const placed = new Set(order)
  for (let place = 0; place < context.length; place++) if (!placed.has(place)) order.push(place)
  return order
}
