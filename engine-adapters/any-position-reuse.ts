/** What an engine says that reuses KV wherever its tokens stand, doing a share of the work again. */
export interface AnyPositionReuse {
  /** the share where a request does not say */
  readonly ratio: number
  /** the least that a request can ask for */
  readonly minRatio: number
  /** the most */
  readonly maxRatio: number
}

/** What a request wishes of such an engine: that it reuses nothing so, or the share to compute again. */
export type ReuseWish = 'off' | number

/** The wish as the engine grants it. */
export function grantedWish({ minRatio, maxRatio }: AnyPositionReuse, wish: ReuseWish): ReuseWish {
  return wish === 'off' ? wish : Math.min(Math.max(wish, minRatio), maxRatio)
}

/** The share of that work which the engine does again for a request; undefined: it reuses nothing for it. */
export function recomputedShare(reuse: AnyPositionReuse | undefined, wish: ReuseWish | undefined): number | undefined {
  if (!reuse) return undefined
  const granted = wish === undefined ? reuse.ratio : grantedWish(reuse, wish)
  return granted === 'off' ? undefined : granted
}
