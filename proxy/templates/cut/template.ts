/** What a template is made of: a literal, anything within one line, or the number of a block's place. */
export type TemplatePart = { readonly literal: string } | 'any' | 'number'

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

/** A position within parts. */
export interface PartMark {
  readonly part: number
  readonly offset: number
}

/** Literals with what varies between them. The first part is a literal; there are no two literals in a row. */
export interface PartPattern {
  readonly parts: readonly TemplatePart[]
  /** where each of the groups begins that the pattern was joined from */
  readonly marks: readonly PartMark[]
}

/** A template, prepared for searching. */
export interface Template {
  /** what is in front of the first block, and its opening, which is the second group; without parts: nothing is */
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

/** Why a list that a template seems to have written is left alone. */
export type TemplateRefusal =
  /** numbers do not count up from 0 or 1 */
  | 'numbers'
  /** the template's literals are within a block, too, or in another place of the text */
  | 'borders'
  /** what the template ends with is missing */
  | 'no_end'
  /** more blocks than any real prompt has */
  | 'too_many'
