import { countUpTo } from '#index/count-up-to.ts'

/**
 * Returns where offsets in one text are in another one that says the same, such as JSON and its bytes. `offsets` need not
 * be in order or distinct. `advance` says how far the other text goes while this one goes from one offset to the next
 * higher one; it begins at 0 here and `start` there.
 */
export function mapOffsets(
  offsets: readonly number[],
  start: number,
  advance: (from: number, to: number) => number,
): (offset: number) => number {
  const sorted = new Uint32Array(offsets).sort()
  const found: number[] = []
  let [from, at] = [0, start]
  for (const to of sorted) {
    if (to > from) at += advance(from, to)
    from = to
    found.push(at)
  }
  return (offset) => found[countUpTo(sorted, offset) - 1]!
}
