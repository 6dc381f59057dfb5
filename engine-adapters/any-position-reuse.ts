/** What an engine reports if it reuses KV at any position and recomputes a share of it. */
export interface AnyPositionReuse {
  /** the share if a request names none */
  readonly ratio: number
  /** the smallest share that a request can ask for */
  readonly minRatio: number
  /** the largest */
  readonly maxRatio: number
  /** whether it asks whose a request is, and reuses for some users less than for others */
  readonly asksForUser?: boolean
  /** whether it reads where the question stands */
  readonly readsQuestion?: boolean
  /** whether it reads what other engines have stored in a place that they share */
  readonly sharesStore?: boolean
}

/** What a request wishes: no reuse at any position (`off`), or the share to recompute. */
export type ReuseWish = 'off' | number

/** The wish as the engine grants it, clamped to its bounds. */
export function grantedWish({ minRatio, maxRatio }: AnyPositionReuse, wish: ReuseWish): ReuseWish {
  return wish === 'off' ? wish : Math.min(Math.max(wish, minRatio), maxRatio)
}

/** The share that the engine recomputes for a request; undefined: it reuses nothing at any position. */
export function recomputedShare(reuse: AnyPositionReuse | undefined, wish: ReuseWish | undefined): number | undefined {
  if (!reuse) return undefined
  const granted = wish === undefined ? reuse.ratio : grantedWish(reuse, wish)
  return granted === 'off' ? undefined : granted
}
