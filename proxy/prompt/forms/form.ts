import type { FormId } from '../judge/context-list.ts'

/** What speaks for a list besides its marks. */
export type Need =
  /**
   * one of: announced as retrieved, in a container of such texts, given by a tool that searches, with a line that says
   * that it is the question, with rules for an answer by them (judge/evidence/weigh-evidence.ts has the weights)
   */
  | 'one_more'
  /** two of what retrieved texts have: a place that says so, a source of each, scores, numbers of documents */
  | 'two_kinds'

/** One form that lists of retrieved texts have in prompts. */
export interface Form {
  readonly id: FormId
  readonly what: string
  /** What ends a block: its own sign, the next mark, what parts two, or its line. */
  readonly closes: 'itself' | 'next_mark' | 'separator' | 'line'
  /** What its label is: of the place, of the block, or none. */
  readonly label: 'position' | 'name' | 'none'
  readonly needs: Need
  /** Prompts that hold one list of two blocks of this form, each as found. */
  readonly examples: readonly string[]
  /** Texts of the same marks that are left alone. */
  readonly alike: readonly string[]
}

export const rain = 'It rained in Oslo all day.'
export const sun = 'The sun shone in Rome again.'
export const ask = '\n\nQuestion: why?'
