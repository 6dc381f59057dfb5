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
  return (offset) => {
    let [low, high] = [0, sorted.length - 1]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (sorted[middle]! < offset) low = middle + 1
      else high = middle
    }
    return found[low]!
  }
}
