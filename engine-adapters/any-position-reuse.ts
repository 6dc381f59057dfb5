/** What an engine reports if it reuses KV at any position and recomputes a share of it, in its words. */
export interface AnyPositionReuse {
  /** the share if a request names none */
  readonly ratio: number
  /** the smallest share that a request can ask for; default: 0 */
  readonly min_ratio?: number
  /** the largest */
  readonly max_ratio: number
  /** whether it asks whose a request is, and reuses for some users less than for others */
  readonly users?: boolean
  /** whether it reads where the question stands */
  readonly question?: boolean
  /** whether it reads what other engines have stored in a place that they share */
  readonly remote?: boolean
}

/** What a request wishes: no reuse at any position (`off`), or the share to recompute. */
export type ReuseWish = 'off' | number

/** The wish as the engine grants it, clamped to its bounds. */
export function grantedWish({ min_ratio = 0, max_ratio }: AnyPositionReuse, wish: ReuseWish): ReuseWish {
  return wish === 'off' ? wish : Math.min(Math.max(wish, min_ratio), max_ratio)
}

/** The share that the engine recomputes for a request; undefined: it reuses nothing at any position. */
export function recomputedShare(reuse: AnyPositionReuse | undefined, wish: ReuseWish | undefined): number | undefined {
  if (!reuse) return undefined
  const granted = wish === undefined ? reuse.ratio : grantedWish(reuse, wish)
  return granted === 'off' ? undefined : granted
}
