import type { Span } from '../../json/json-spans.ts'

/** Why something that looks like a list of blocks is left alone. */
export type Reason =
  /** tags of a name that also pairs stand alone */
  | 'torn_tags'
  /** more marks or blocks than any prompt has */
  | 'too_many'
  /** where the last block ends cannot be told */
  | 'open_end'
  /** a block runs from one text part into the next */
  | 'spans_parts'
  /** nothing, or too little, says that these are retrieved texts */
  | 'no_evidence'
  /** lines of one shape part a text, and are of no form that is known */
  | 'unknown_form'
  /** fields that say that the order means something: dates, pages, speakers, steps */
  | 'ordered_fields'
  /** the texts tell an order: dates or numbers that rise, mails, patches, what speakers say in turn, sentences that go on */
  | 'ordered_texts'
  /** what a tool read, ran or listed is one text */
  | 'one_text'
  /** the answer follows the order of the texts, hands them back or goes on with them, or the prompt says that it counts */
  | 'task'
  /** who asks has written it */
  | 'own_work'
  /** an example of what is asked for or how to answer */
  | 'example'
  /** notes, links and references of one text */
  | 'bibliography'
  /** steps, rules, options to choose from, rows, events */
  | 'directions'
  /** who says what */
  | 'talk'
  /** elements of another kind of markup */
  | 'markup'

/** Reasons by which it is known that something looks like a list, but not where its blocks end. */
const aboutBorders: ReadonlySet<Reason> = new Set(['torn_tags', 'open_end', 'spans_parts'])

/** Something that looks like a list and is left alone. */
export interface Refusal {
  readonly refused: Reason
  /** where it begins in its text, and as far as it was read */
  readonly at: Span
}

/** Whether one of these says that borders are unsure: the word of the response header for them. */
export function areUnsure(refusals: readonly Pick<Refusal, 'refused'>[]): boolean {
  return refusals.some(({ refused }) => aboutBorders.has(refused))
}
