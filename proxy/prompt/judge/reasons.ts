import type { Span } from '../../json/json-spans.ts'

/** Why something that looks like a list of blocks is left alone. */
export type Reason =
  /** unpaired tags whose name is also used for pairs */
  | 'torn_tags'
  /** more marks or blocks than any real prompt has */
  | 'too_many'
  /** the end of the last block is uncertain */
  | 'open_end'
  /** a block continues from one text part into the next */
  | 'spans_parts'
  /** little or nothing shows that these texts were retrieved */
  | 'no_evidence'
  /** lines of one shape divide a text, but have no known form */
  | 'unknown_form'
  /** fields show that the order means something: dates, pages, speakers, steps */
  | 'ordered_fields'
  /** the texts show an order: dates or numbers that rise or fall */
  | 'ordered_texts'
  /** what a tool read, ran or listed is one text */
  | 'one_text'
  /** the answer follows the order of the texts, repeats or continues them, or the prompt says that the order matters */
  | 'task'
  /** words give the places of the texts a meaning */
  | 'order'
  /** somebody names a text by its number or place */
  | 'named'
  /** numbers of documents may come back where nobody maps them */
  | 'numbers'
  /** the person asking has written it */
  | 'own_work'
  /** an example of what is wanted or how to answer */
  | 'example'

/** Reasons for which something is known to look like a list, but its block borders are not known. */
const aboutBorders: ReadonlySet<Reason> = new Set(['torn_tags', 'open_end', 'spans_parts'])

/** Something that looks like a list and is left alone. */
export interface Refusal {
  readonly refused: Reason
  /** where it begins in its text, up to where it was read */
  readonly at: Span
}

/** Returns whether a refusal says that borders are unsure, which the response header reports. */
export function areUnsure(refusals: readonly Pick<Refusal, 'refused'>[]): boolean {
  return refusals.some(({ refused }) => aboutBorders.has(refused))
}
