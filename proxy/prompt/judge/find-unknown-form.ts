import type { Span } from '../../json/json-spans.ts'
import { findContentEnd, findContentStart, findLineEnd } from '../scan/find-edges.ts'

// marks are short lines; of a longer line, the part before its first colon is the mark
const LONGEST_MARK = 60
// code, Markdown and prose repeat signs too, so a mark needs a name, inside signs or before a colon
const IN_SIGNS = /^(?=[^\p{L}\p{N}\s])[^\n]*[\p{L}\p{N}][^\n]*[^\p{L}\p{N}\s.!?,;。]$/u
const NAMED = /^(?:[^\p{L}\p{N}\s]{0,6}|[-*][ \t]|\d{1,3}[.)][ \t])\p{L}[\p{L}\p{N} _#-]{1,30}[:：]$/u
// these are code, whatever they contain
const OF_CODE = /^(?:[{}()[\]'"`|>]|\/\/|\/\*|\* )|[;{(]$/
const MOST_LINES = 20_000
const MOST_SHAPES = 1_000

/** Lines of one shape, which may be marks. */
interface Shape extends Span {
  readonly text: number
  readonly count: number
}

/**
 * Finds the first of several lines of one shape that divide a text, such as `<<<DOC 1>>>` and `###PATH: a.md`. They
 * look like marks of documents, but have no known form. Used only for explanations; nothing is reordered because of it.
 */
export function findUnknownForm(texts: readonly string[]): (Span & { readonly text: number }) | undefined {
  const shapes = new Map<string, Shape>()
  for (const [text, whole] of texts.entries()) {
    for (let line = 0, i = 0; line < whole.length && i < MOST_LINES; line = findLineEnd(whole, line) + 1, i++) {
      const shape = readShape(whole, line)
      if (shape === undefined || (shapes.size >= MOST_SHAPES && !shapes.has(shape))) continue
      const { start = line, text: own = text, count = 0 } = shapes.get(shape) ?? {}
      shapes.set(shape, { start, end: findLineEnd(whole, line), text: own, count: count + 1 })
    }
  }
  const repeated = [...shapes.values()].filter(({ count }) => count > 1)
  const first = repeated.sort((a, b) => b.count - a.count || a.text - b.text || a.start - b.start)[0]
  return first && { text: first.text, start: first.start, end: first.end }
}

function readShape(text: string, line: number): string | undefined {
  const lineEnd = findLineEnd(text, line)
  const start = findContentStart(text, line, lineEnd)
  const words = text.slice(start, Math.min(findContentEnd(text, start, lineEnd), start + LONGEST_MARK + 1))
  if (OF_CODE.test(words) && !/^\[[^\]]*\d[^\]]*\]/.test(words)) return undefined
  if (words.length <= LONGEST_MARK && IN_SIGNS.test(words)) return words.replaceAll(/\d+/g, '#')
  const name = words.slice(0, words.search(/[:：]/) + 1)
  return NAMED.test(name) ? name.replaceAll(/\d+/g, '#') : undefined
}
