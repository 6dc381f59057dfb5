/** A length of a prompt at which others find it; two: all whole pages from the first to the last. */
export type Checkpoint = number | readonly [first: number, last: number]

/** Lengths at which an engine keeps checkpoints, the first to the last, and since when. */
export interface CheckpointRange {
  readonly first: number
  readonly last: number
  /** an `order` given to `hold` */
  readonly since: number
}

/** Returns the part of some lengths that is after `start` and up to `end`. */
export function clipCheckpoints(kept: readonly CheckpointRange[], start: number, end: number): CheckpointRange[] {
  return kept
    .map(({ first, last, since }) => ({ first: Math.max(first, start + 1), last: Math.min(last, end), since }))
    .filter(({ first, last }) => first <= last)
}

/** Returns what is kept once `lengths` are reported by a prompt of this order. Those that were kept before stay older. */
export function replaceCheckpoints(
  before: readonly CheckpointRange[],
  lengths: readonly Checkpoint[],
  order: number,
): CheckpointRange[] {
  return lengths.flatMap((length) => {
    const [from, to] = typeof length === 'number' ? [length, length] : length
    const kept: CheckpointRange[] = []
    let next = from
    for (const { first, last, since } of clipCheckpoints(before, from - 1, to)) {
      if (next < first) kept.push({ first: next, last: first - 1, since: order })
      kept.push({ first, last, since: Math.min(since, order) })
      next = last + 1
    }
    if (next <= to) kept.push({ first: next, last: to, since: order })
    return kept
  })
}

/** Returns the last length within `most` tokens, in whole pages, that was kept before `order`; 0 if there is none. */
export function findLastCheckpoint(
  kept: readonly CheckpointRange[],
  most: number,
  order: number,
  pageTokens: number,
): number {
  const found = kept
    .filter(({ first, since }) => first <= most && since < order)
    .map(({ first, last }) => {
      const length = Math.min(last, most)
      return Math.max(first, length - (length % pageTokens))
    })
  return Math.max(0, ...found)
}
