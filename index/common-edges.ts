/** How many characters one or more texts have in common at their start, and at their end without overlapping that. */
export function commonEdges(texts: readonly string[]): { readonly start: number; readonly end: number } {
  const start = commonStart(texts)
  return { start, end: commonEnd(texts, shortestOf(texts) - start) }
}

/** How many characters one or more texts have in common at their start. */
export function commonStart(texts: readonly string[]): number {
  return countCommon(texts, shortestOf(texts), (text, i) => text[i])
}

/** How many characters one or more texts have in common at their end, up to `most`. */
export function commonEnd(texts: readonly string[], most: number = shortestOf(texts)): number {
  return countCommon(texts, most, (text, i) => text[text.length - 1 - i])
}

function countCommon(
  texts: readonly string[],
  most: number,
  at: (text: string, i: number) => string | undefined,
): number {
  const [first, ...others] = texts as [string, ...string[]]
  let count = 0
  while (count < most && others.every((text) => at(text, count) === at(first, count))) count++
  return count
}

function shortestOf(texts: readonly string[]): number {
  return Math.min(...texts.map(({ length }) => length))
}
