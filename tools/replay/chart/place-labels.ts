/** Moves labels down, from top to bottom and as little as possible, until they are `gap` apart. */
export function placeLabels(wanted: readonly number[], gap: number): number[] {
  const placed = [...wanted]
  let least = Number.NEGATIVE_INFINITY
  for (const at of wanted.map((_, i) => i).sort((a, b) => wanted[a]! - wanted[b]!)) {
    placed[at] = Math.max(wanted[at]!, least)
    least = placed[at]! + gap
  }
  return placed
}
