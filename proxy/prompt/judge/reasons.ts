import type { Span } from '../../common/json/json-spans.ts'

const mark = 'put each document into <document>…</document>, or give them in `reprise.blocks`'

/** Why something that looks like a list of blocks is left alone, and the one thing that would help. */
const remedies = {
  /** unpaired tags whose name is also used for pairs */
  torn_tags: 'escape tags inside of documents, or use tags that no document holds',
  /** more marks or blocks than any real prompt has */
  too_many: 'send fewer blocks, or several requests',
  /** the end of the last block is uncertain */
  open_end: 'put a line `Question: …` behind the last document, or each document into <document>…</document>',
  /** a block continues from one text part into the next */
  spans_parts: 'let every document begin and end in one text part',
  /** little or nothing shows that these texts were retrieved */
  no_evidence: `announce the list (as \`Documents:\`) and ask below it (\`Question: …\`), or ${mark}`,
  /** fields show that the order means something: dates, pages, speakers, steps */
  ordered_fields: `dates, pages, speakers or steps say that the order means something; where it does not, ${mark}`,
  /** the texts show an order: dates or numbers that rise or fall */
  ordered_texts: 'none: texts whose dates or numbers rise or fall stay in their order; `reprise.blocks` moves them',
  /** what a tool read, ran or listed is one text */
  one_text: 'what a tool reads, runs or lists is one text; call a tool that searches by such a name',
  /** the answer follows the order of the texts, repeats or continues them, or a tool is called with a place */
  task: 'none: what is handed back, ranked, gone on with or named to a tool by its place stays in its order; `reprise.blocks` moves texts',
  /** words give the places of the texts a meaning */
  order:
    'none: words say that the places of these texts mean something; `x-reprise-options: set` states that they do not',
  /** somebody names a text by its number or place */
  named: 'name documents by words of their own, as file names, in place of their numbers',
  /** numbers of documents may come back where nobody maps them */
  numbers:
    'ask for citations as `[1]` in plain text; give documents names in place of numbers where answers are data, stored or calls of tools',
  /** the person asking has written it */
  own_work: 'none: parts of what somebody writes stay in their order; `reprise.blocks` moves texts',
  /** an example of what is wanted or how to answer */
  example: 'none: examples stay as they are',
}

/** Why something that looks like a list of blocks is left alone. */
export type Reason = keyof typeof remedies

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

/** A refusal in words: its location, and the one thing that would help. */
interface ExplainedRefusal {
  readonly reason: Reason
  /** counted from 1 */
  readonly line: number
  /** beginning of the text that was left alone */
  readonly begins: string
  readonly remedy: string
}

/** What helps if the text in front of documents, or of what tools return, is another one each time. */
export function differsBeforeRemedy(areResults: boolean): string {
  return areResults
    ? 'what stands in front of what tools return differs, as the question to an agent does: reuse at any position in the engine reuses the documents there (docs/engines.md)'
    : 'what stands in front of the documents differs from request to request (a question, a date, a name): put it behind them'
}

/** What helps if blocks of equal documents differ in a score. */
export const differingRemedy =
  'leave scores out of the prompt, or state them behind the list, so that equal documents are equal'

/** Returns the one thing that helps when something was left alone for this reason. */
export function remedyFor(reason: Reason): string {
  return remedies[reason]
}

const LONGEST_BEGINNING = 60

/** Explains a refusal, given the text it is about. */
export function explainRefusal(text: string, reason: Reason, { start }: Span): ExplainedRefusal {
  const line = text.slice(0, start).split('\n').length
  const begins = text
    .slice(start, start + 4 * LONGEST_BEGINNING)
    .replace(/\s+/g, ' ')
    .trim()
  return { reason, line, begins: begins.slice(0, LONGEST_BEGINNING), remedy: remedies[reason] }
}
