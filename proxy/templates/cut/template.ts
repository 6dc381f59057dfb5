/** Anything within one line, and the number of a block's place. */
export const any: unique symbol = Symbol('any')
export const placeNumber: unique symbol = Symbol('number')

/** What a template is made of: literals, and what varies. */
export type TemplatePart = string | typeof any | typeof placeNumber

/** How an application writes a list of blocks. `readTemplate` checks one that a developer wrote. */
export interface TemplateParts {
  /** directly in front of the first block; `start`: nothing but white space is; undefined: not known */
  readonly before?: readonly TemplatePart[] | 'start' | undefined
  /** in front of each block's content */
  readonly open: readonly TemplatePart[]
  /** behind each block's content, also behind the last */
  readonly close: readonly TemplatePart[]
  /** between two blocks */
  readonly join: string
  /** directly behind the last block; `end`: nothing but white space is; undefined: not known */
  readonly after?: readonly TemplatePart[] | 'end' | undefined
}

/** Literals with what varies between them. The first part is a literal; there are no two literals in a row. */
export interface PartPattern {
  readonly parts: readonly TemplatePart[]
  /** where each of the groups begins that the pattern was joined from */
  readonly groups: readonly { readonly part: number; readonly offset: number }[]
}

/** A template, prepared for searching. */
export interface Template {
  /** what is in front of the first block, and its opening; without parts: nothing is */
  readonly head: PartPattern
  /** whether it is known what is in front of the list: words, nothing but white space, or undefined */
  readonly before: 'given' | 'start' | undefined
  /** from the end of one block's content to the beginning of the next: closing, what is between, opening */
  readonly gap: PartPattern
  /** closing of the last block, what of the rest belongs to the list, the rest; undefined: the text ends there */
  readonly tail: PartPattern | undefined
  readonly after: 'given' | 'end' | undefined
  readonly hasOpen: boolean
  readonly hasClose: boolean
  /** blocks begin at the beginning of a line */
  readonly beginsLine: boolean
  readonly isNumbered: boolean
  /** what begins blocks and nothing within a block; undefined: numbers prove the borders, or it is too common */
  readonly stray: string | undefined
}

// a closing tag behind the list belongs to it: words of ours go behind it
const CLOSING_TAG = /^\s*(?:<\/[\w:.-]{1,60}>|\[\/[\w:.-]{1,60}\])/

/** Prepares a template for searching. Parts that a developer wrote have to be without faults (`readTemplate`). */
export function compileTemplate({ before, open, close, join, after }: TemplateParts): Template {
  // white space at a block's edges stays in its place when blocks move
  const begins = literalOf(open[0]).trimStart()
  const ends = literalOf(close.at(-1)).trimEnd()
  const opening = typeof open[0] === 'string' ? merge([begins, ...open.slice(1)]) : open
  const closing = typeof close.at(-1) === 'string' ? merge([...close.slice(0, -1), ends]) : close
  const lead = literalOf(open[0]).slice(0, literalOf(open[0]).length - begins.length)
  const rear = literalOf(close.at(-1)).slice(ends.length)
  const between = rear + join + lead
  const behind = Array.isArray(after) ? merge([rear, ...after]) : []
  const container = CLOSING_TAG.exec(literalOf(behind[0]))?.[0] ?? ''
  const rest = [literalOf(behind[0]).slice(container.length), ...behind.slice(1)]
  const isNumbered = open.includes(placeNumber)
  return {
    head: toPattern([Array.isArray(before) ? [...before, lead] : [], opening]),
    before: Array.isArray(before) ? 'given' : (before as 'start' | undefined),
    gap: toPattern([closing, [between], opening]),
    tail: behind.length + closing.length === 0 ? undefined : toPattern([closing, [container], rest]),
    after: Array.isArray(after) ? 'given' : (after as 'end' | undefined),
    hasOpen: opening.length > 0,
    hasClose: closing.length > 0,
    beginsLine: between.endsWith('\n'),
    isNumbered,
    stray: !isNumbered && isTelling(literalOf(opening[0])) ? literalOf(opening[0]) : undefined,
  }
}

/** Whether a literal is unlikely within a document: three characters or more that are no space and no Markdown heading. */
export function isTelling(literal: string): boolean {
  return literal.replace(/[\s#]/g, '').length >= 3
}

/** Returns a part's literal; empty if it is none. */
export function literalOf(part: TemplatePart | undefined): string {
  return typeof part === 'string' ? part : ''
}

/** Joins literals that follow each other. */
export function merge(parts: readonly TemplatePart[]): readonly TemplatePart[] {
  return toPattern([parts]).parts
}

function toPattern(grouped: readonly (readonly TemplatePart[])[]): PartPattern {
  const parts: TemplatePart[] = []
  const groups = grouped.map((group) => {
    const offset = literalOf(parts.at(-1)).length
    const begin = { part: offset > 0 ? parts.length - 1 : parts.length, offset }
    for (const part of group) {
      const before = parts.at(-1)
      if (typeof part === 'string' && typeof before === 'string') parts[parts.length - 1] = before + part
      else if (part !== '') parts.push(part)
    }
    return begin
  })
  return { parts, groups }
}
