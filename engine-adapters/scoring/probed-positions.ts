/** Tokens of an answer that are asked for where not all are scored. */
const probes = 16

/**
 * Chooses tokens of an answer by their texts: the beginnings of lines, where a list goes on with its next item, take up to
 * half of the places; the others are spread evenly. Positions rise.
 */
export function probedPositions(texts: readonly string[]): number[] {
  const lines = texts.flatMap((_, i) => (i > 0 && /[\n\u010a]/.test(texts[i - 1]!) ? [i] : []))
  const chosen = new Set([0, ...spread(lines, probes / 2)])
  const others = texts.map((_, i) => i).filter((i) => !chosen.has(i))
  return [...chosen, ...spread(others, probes - chosen.size)].toSorted((a, b) => a - b)
}

function spread(positions: readonly number[], count: number): number[] {
  if (positions.length <= count) return [...positions]
  return Array.from({ length: count }, (_, i) => positions[Math.floor((i * positions.length) / count)]!)
}
