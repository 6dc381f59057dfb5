/** A length of a prompt at which others find it; two: all whole pages from the first to the last. */
export type Checkpoint = number | readonly [first: number, last: number]

/** Lengths at which an engine keeps checkpoints, the first to the last, and since when. */
export interface CheckpointRange {
  readonly first: number
  readonly last: number
  /** an `order` given to `hold` */
  readonly since: number
}

/** Returns the greatest of some lengths, ascending; 0 if there is none. */
export function lastOf(lengths: readonly Checkpoint[] = []): number {
  const last = lengths.at(-1) ?? 0
  return rangeOf(last)[1]
}

/** Returns the part of some lengths that is after `start` and up to `end`. */
export function clipCheckpoints(kept: readonly CheckpointRange[], start: number, end: number): CheckpointRange[] {
  return kept
    .map(({ first, last, since }) => ({ first: Math.max(first, start + 1), last: Math.min(last, end), since }))
    .filter(({ first, last }) => first <= last)
}

/**
 * Returns what is kept once `lengths`, ascending, are reported by a prompt of this order. Those that were kept `before`
 * stay older. O(both).
 */
export function replaceCheckpoints(
  before: readonly CheckpointRange[],
  lengths: readonly Checkpoint[],
  order: number,
): CheckpointRange[] {
  const kept: CheckpointRange[] = []
  let next = 1
  let at = 0
  for (const length of lengths) {
    const [from, to] = rangeOf(length)
    next = Math.max(next, from)
    while (next <= to) {
      while (at < before.length && before[at]!.last < next) at++
      const { first, last, since } = before[at] ?? { first: Number.POSITIVE_INFINITY, last: 0, since: order }
      const isOld = first <= next
      const end = Math.min(to, isOld ? last : first - 1)
      kept.push({ first: next, last: end, since: isOld ? Math.min(since, order) : order })
      next = end + 1
    }
  }
  return kept
}

/** Returns the last length within `most` tokens, in whole pages, that was kept before `order`; 0 if there is none. */
export function findLastCheckpoint(
  kept: readonly CheckpointRange[],
  most: number,
  order: number,
  pageTokens: number,
): number {
  return kept.reduce((found, { first, last, since }) => {
    if (first > most || since >= order) return found
    const length = Math.min(last, most)
    return Math.max(found, first, length - (length % pageTokens))
  }, 0)
}

function rangeOf(length: Checkpoint): readonly [number, number] {
  return typeof length === 'number' ? [length, length] : length
}
