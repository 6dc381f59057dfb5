import type { PartMark, PartPattern, Template, TemplatePart, TemplateParts } from './template.ts'

// a closing tag behind the list belongs to it: words of ours go behind it
const CLOSING_TAG = /^\s*(?:<\/[\w:.-]{1,60}>|\[\/[\w:.-]{1,60}\])/

/** Prepares a template for searching. Parts that a developer wrote have to be without faults (`readTemplate`). */
export function compileTemplate({ before, open, close, join, after }: TemplateParts): Template {
  // white space at a block's edges stays in its place when blocks move
  const opening = splitFront(open)
  const closing = splitEnd(close)
  const between = [...closing.space, ...toLiterals(join), ...opening.space]
  const isOpenEnd = after === undefined || after === 'end'
  const behind = isOpenEnd ? [] : merge([...closing.space, ...after])
  const container = CLOSING_TAG.exec(literalOf(behind[0]))?.[0] ?? ''
  const isNumbered = open.includes('number')
  const front = Array.isArray(before) ? [...before, ...opening.space] : []
  const begins = literalOf(opening.rest[0])
  return {
    head: toPattern([front, opening.rest]),
    before: Array.isArray(before) ? 'given' : (before as 'start' | undefined),
    gap: toPattern([closing.rest, between, opening.rest]),
    tail:
      isOpenEnd && closing.rest.length === 0
        ? undefined
        : toPattern([closing.rest, toLiterals(container), dropFront(behind, container.length)]),
    after: isOpenEnd ? after : 'given',
    hasOpen: opening.rest.length > 0,
    hasClose: closing.rest.length > 0,
    beginsLine: literalOf(merge(between).at(-1)).endsWith('\n'),
    isNumbered,
    stray: !isNumbered && isTelling(begins) ? begins : undefined,
  }
}

/** Whether a literal is unlikely within a document: three characters or more that are no space and no Markdown heading. */
export function isTelling(literal: string): boolean {
  return literal.replace(/[\s#]/g, '').length >= 3
}

/** Returns a part's literal; empty if it is none. */
export function literalOf(part: TemplatePart | undefined): string {
  return typeof part === 'object' ? part.literal : ''
}

/** Joins literals that follow each other. */
export function merge(parts: readonly TemplatePart[]): TemplatePart[] {
  return [...toPattern([parts]).parts]
}

function toPattern(groups: readonly (readonly TemplatePart[])[]): PartPattern {
  const parts: TemplatePart[] = []
  const marks: PartMark[] = []
  for (const group of groups) {
    const last = parts.at(-1)
    marks.push(
      typeof last === 'object'
        ? { part: parts.length - 1, offset: last.literal.length }
        : { part: parts.length, offset: 0 },
    )
    for (const part of group) {
      const before = parts.at(-1)
      if (typeof part !== 'object' || typeof before !== 'object') parts.push(part)
      else parts[parts.length - 1] = { literal: before.literal + part.literal }
    }
  }
  return { parts, marks }
}

/** Returns a text as parts: none if it is empty. */
export function toLiterals(literal: string): TemplatePart[] {
  return literal === '' ? [] : [{ literal }]
}

function dropFront(parts: readonly TemplatePart[], length: number): TemplatePart[] {
  return [...toLiterals(literalOf(parts[0]).slice(length)), ...parts.slice(1)]
}

/** Splits white space off the beginning. */
function splitFront(parts: readonly TemplatePart[]): { space: TemplatePart[]; rest: TemplatePart[] } {
  const first = literalOf(parts[0])
  const length = first.length - first.trimStart().length
  if (length === 0) return { space: [], rest: [...parts] }
  return { space: toLiterals(literalOf(parts[0]).slice(0, length)), rest: dropFront(parts, length) }
}

/** Splits white space off the end. */
function splitEnd(parts: readonly TemplatePart[]): { space: TemplatePart[]; rest: TemplatePart[] } {
  const last = literalOf(parts.at(-1))
  const rest = last.trimEnd()
  if (rest === last) return { space: [], rest: [...parts] }
  return { space: toLiterals(last.slice(rest.length)), rest: [...parts.slice(0, -1), ...toLiterals(rest)] }
}
