/** A place at which prompts may part: the end of the text before a context, or of one of its blocks. */
export interface BorderPlace {
  /** tokens from the start of the prompt */
  readonly end: number
  /** how many requests are expected to share the prompt up to here; no more than at the place before */
  readonly demand: number
}

/**
 * Chooses the places where an engine should keep checkpoints: up to `most`, each at least `gap` tokens from the others
 * and behind `start`, the last checkpoint that it has. Greedy: each saves the most tokens beside those chosen before. A
 * request finds the last chosen place within what it shares, so a place saves only what lies behind the one before it,
 * and only for requests that do not share the next one.
 * Returns indices, ascending. O(most · n).
 */
export function chooseBorders(places: readonly BorderPlace[], most: number, gap: number, start = 0): number[] {
  const chosen: number[] = []
  while (chosen.length < most) {
    let best = -1
    let saving = 0
    for (let at = 0; at < places.length; at++) {
      const own = savingOf(places, at, chosen, gap, start)
      if (own > saving) {
        best = at
        saving = own
      }
    }
    if (best < 0) break
    chosen.push(best)
    chosen.sort((a, b) => a - b)
  }
  return chosen
}

/** Returns what a place saves beside those chosen, which are ascending; 0 if it is too close to one of them. */
function savingOf(
  places: readonly BorderPlace[],
  at: number,
  chosen: readonly number[],
  gap: number,
  first: number,
): number {
  const { end, demand } = places[at]!
  const next = chosen.find((other) => other >= at)
  const before = chosen.findLast((other) => other < at)
  const start = before === undefined ? first : places[before]!.end
  if (next === at || end - start < gap || (next !== undefined && places[next]!.end - end < gap)) return 0
  return (demand - (next === undefined ? 0 : places[next]!.demand)) * (end - start)
}
