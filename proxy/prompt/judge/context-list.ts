import type { RankField } from '../scan/find-rank-fields.ts'
import type { Weight } from '../scan/words/nouns.ts'

/** Where one context block stands in a text; all offsets are UTF-16 indices into it. */
export interface BlockSpan {
  /** The whole block, with its markup and label. */
  readonly start: number
  readonly end: number
  /** Its content without tag, label and surrounding whitespace: what its identity is taken from. */
  readonly contentStart: number
  readonly contentEnd: number
  /**
   * The label's varying part: `3` in `[3]`, `[Doc_3]`, `Document 3:` and `index="3"`; `ab12` in `[Doc_ab12]`. It stands
   * in front of the content, but inside it in JSON (`{"id":3,…}`) and possibly in the match of a user's pattern.
   */
  readonly label?: { readonly start: number; readonly end: number }
  /** Fields that only rank it, in order. */
  readonly ranks?: readonly RankField[]
}

/** Consecutive context blocks in one text. */
export interface ContextList {
  /** In order, not overlapping. */
  readonly blocks: readonly BlockSpan[]
  /** The labels run n, n+1, n+2 … in the order received (n = 0 or 1): they belong to the position, not to the block. */
  readonly positional: boolean
  /** What stands in front of the label when it is spoken of: '' for `[3]` and `index="3"`, 'Doc_' for `[Doc_3]`. */
  readonly labelPrefix: string
  /** Behind the container's closing tag if one closes the list, else the end of the last block. */
  readonly end: number
  /** The form of its marks; undefined where a pattern of the user's found it, which needs nothing to speak for it. */
  readonly form?: FormId
  /** How much its marks say by themselves. */
  readonly weight?: Weight
  /** It begins where a container of retrieved texts begins. */
  readonly inContainer?: boolean
  /** Its blocks say where each of them comes from, and these are different places. */
  readonly hasOrigins?: boolean
  /** Fields of its blocks say that their order means something, as a time or a speaker does. */
  readonly isOrdered?: boolean
}

/** The forms that lists have. */
export type FormId =
  | 'label'
  | 'number'
  | 'record'
  | 'credited'
  | 'keyed'
  | 'closed'
  | 'tag'
  | 'json'
  | 'memories'
  | 'items'
  | 'rules'
  | 'quoted'
  | 'fenced'
  | 'sourced'
  | 'parts'

/** No prompt has as many documents as these: a text with more is left alone, to order them would hold up other requests. */
export const mostBlocks = 2_048
