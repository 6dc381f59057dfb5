import { findIndexFrom } from '../scan/find-edges.ts'
import type { Region } from '../scan/find-elements.ts'

/** Those of a text's ordered marks that stand in a region, but in none of its elements. */
export function findOwn<Item extends { readonly start: number }>(items: readonly Item[], region: Region): Item[] {
  const own: Item[] = []
  let next = 0
  for (let i = findIndexFrom(items, region.start); i < items.length && items[i]!.start < region.end; i++) {
    const item = items[i]!
    while (next < region.elements.length && region.elements[next]!.end <= item.start) next++
    const element = region.elements[next]
    if (item.start < (element?.start ?? region.end)) own.push(item)
    // what an element holds is passed over at once: containers in containers would be read as often as they are deep
    else if (element !== undefined) i = findIndexFrom(items, element.end) - 1
  }
  return own
}
