import type { FormId } from '../context-list.ts'

/** What evidence a list needs besides its marks. */
type Need =
  /**
   * one of: an announcement as retrieved text, a container of such texts, a search tool as the source, a line marked as
   * the question, rules for an answer based on the texts (weights: judge/judge-list.ts)
   */
  | 'one_more'
  /** two properties of retrieved texts: surroundings that say so, a source for each, scores, document numbers */
  | 'two_kinds'

/** A form in which lists of retrieved texts appear in prompts. */
export interface Form {
  readonly id: FormId
  readonly what: string
  /** What ends a block: its own closing mark, the next mark, a separator, or the end of its line. */
  readonly closes: 'itself' | 'next_mark' | 'separator' | 'line'
  /** What its label belongs to: the position, the block (as a name), or none. */
  readonly label: 'position' | 'name' | 'none'
  readonly needs: Need
  /** The sources that read its marks and turn them into lists: paths below `proxy/prompt`. */
  readonly readBy: readonly string[]
  /** Prompts in which one list of two blocks of this form is found. */
  readonly examples: readonly string[]
  /** Texts with the same marks that are left alone. */
  readonly alike: readonly string[]
}

export const rain = 'It rained in Oslo all day.'
export const sun = 'The sun shone in Rome again.'
export const ask = '\n\nQuestion: why?'
