/** How many characters one or more texts have in common at their start, and at their end without overlapping that. */
export function commonEdges(texts: readonly string[]): { readonly start: number; readonly end: number } {
  const first = texts[0]!
  const shortest = Math.min(...texts.map(({ length }) => length))
  let start = 0
  while (start < shortest && texts.every((text) => text[start] === first[start])) start++
  let end = 0
  while (end < shortest - start && texts.every((text) => text.at(-1 - end) === first.at(-1 - end))) end++
  return { start, end }
}
