import { findIndexFrom } from '../scan/find-edges.ts'
import type { Region } from '../scan/find-elements.ts'

/** Returns those of a text's ordered marks that are in a region but in none of its elements. */
export function findOwn<Item extends { readonly start: number }>(items: readonly Item[], region: Region): Item[] {
  const own: Item[] = []
  let next = 0
  for (let i = findIndexFrom(items, region.start); i < items.length && items[i]!.start < region.end; i++) {
    const item = items[i]!
    while (next < region.elements.length && region.elements[next]!.end <= item.start) next++
    const element = region.elements[next]
    if (item.start < (element?.start ?? region.end)) own.push(item)
    // skip the content of an element at once, or nested containers would be read once per level of nesting
    else if (element !== undefined) i = findIndexFrom(items, element.end) - 1
  }
  return own
}
