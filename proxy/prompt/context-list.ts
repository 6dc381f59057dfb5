import { toLabelNumber } from './scan/labels/label.ts'
import type { Weight } from './scan/words/nouns.ts'

/** Position of one context block in a text. All offsets are UTF-16 indices into the text. */
export interface BlockSpan {
  /** The whole block, with its markup and label. */
  readonly start: number
  readonly end: number
  /** Its content without tag, label and surrounding whitespace. The block's identity is derived from it. */
  readonly contentStart: number
  readonly contentEnd: number
  /**
   * The label's varying part: `3` in `[3]`, `[Doc_3]`, `Document 3:` and `index="3"`; `ab12` in `[Doc_ab12]`. It comes
   * before the content, except in JSON (`{"id":3,…}`) and possibly in matches of a user's pattern, where it is inside.
   */
  readonly label?: { readonly start: number; readonly end: number }
  /** Names of fields that only rank it: equal documents differ by them. */
  readonly ranks?: readonly string[]
}

/** Consecutive context blocks in one text. */
export interface ContextList {
  /** In order, not overlapping. */
  readonly blocks: readonly BlockSpan[]
  /**
   * The labels run n, n+1, n+2 … in the order received (n = 0 or 1), so they belong to the position, not to the block.
   */
  readonly positional: boolean
  /** What precedes the label when the block is mentioned: '' for `[3]` and `index="3"`, 'Doc_' for `[Doc_3]`. */
  readonly labelPrefix: string
  /** After the container's closing tag if one closes the list, else the end of the last block. */
  readonly end: number
  /** The form of its marks. Undefined if a user's pattern found the list, which then needs no evidence. */
  readonly form?: FormId
  /** How much evidence its marks are by themselves. */
  readonly weight?: Weight
  /** It begins at the beginning of a container of retrieved texts. */
  readonly inContainer?: boolean
  /** Its blocks state where they come from, and these origins differ. */
  readonly hasOrigins?: boolean
  /** Fields of its blocks, such as a time or a speaker, show that their order means something. */
  readonly isOrdered?: boolean
}

/** Builds a list of these blocks. Their labels are those of their places if they are n, n+1, n+2 …, n = 0 or 1. */
export function toList(
  text: string,
  blocks: readonly BlockSpan[],
  form: FormId,
  weight: Weight,
  end: number = blocks.at(-1)!.end,
): ContextList {
  const numbers = blocks.map(({ label }) => label && toLabelNumber(text.slice(label.start, label.end)))
  const [first = 2] = numbers
  const positional = first <= 1 && numbers.every((number, i) => number === first + i)
  return { blocks, positional, labelPrefix: '', form, weight, end }
}

/** Parts ordered things into rows; `follows` says whether one continues the row of the one before it. */
export function toRows<Item>(
  items: readonly Item[],
  follows: (left: Item, right: Item) => boolean,
): [Item, ...Item[]][] {
  const rows: [Item, ...Item[]][] = []
  for (const item of items) {
    const row = rows.at(-1)
    if (row !== undefined && follows(row.at(-1)!, item)) row.push(item)
    else rows.push([item])
  }
  return rows
}

export function startOf({ blocks }: Pick<ContextList, 'blocks'>): number {
  return blocks[0]!.start
}

export function overlap(left: ContextList, right: ContextList): boolean {
  return startOf(left) < right.end && startOf(right) < left.end
}

export type FormId = 'label' | 'number' | 'record' | 'credited' | 'tag' | 'json' | 'memories' | 'quoted' | 'fenced'

/**
 * No real prompt has this many documents. A text with more is left alone, because ordering them would delay other
 * requests.
 */
export const mostBlocks = 2_048
