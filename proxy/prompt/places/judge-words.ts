import type { LabelForm } from '../../answer/citations/citation-labels.ts'
import type { Reason } from '../judge/reasons.ts'
import type { Remarks } from './read-remarks.ts'
import { readWords, type Speaker, type WordSigns } from './read-words.ts'
import { areUnmapped } from './words/citation-specimens.ts'

/** What words are judged for: a list of blocks. */
export interface JudgedList extends Pick<LabelForm, 'tag' | 'isInParentheses'> {
  readonly blocks: number
  /** numbers by which a model may call its blocks; empty if labels move with the blocks */
  readonly labels: readonly string[]
  /** what precedes the number in a label */
  readonly prefix: string
  readonly isPositional: boolean
  /** its blocks bear labels, which may move with them; by default if these count */
  readonly isLabelled?: boolean
  /** by which the prompt itself calls its blocks, in the singular */
  readonly ownWords?: () => readonly string[]
  /** the sender states that its order means nothing */
  readonly isSet?: boolean
}

/** Why words forbid to move the blocks of a list, and when; the first that holds is the reason. */
const vetoes: readonly (readonly [Reason, (signs: WordSigns, list: JudgedList, speaker: Speaker) => boolean])[] = [
  ['task', ({ said }) => said.has('task') || said.has('many')],
  ['own_work', ({ said }) => said.has('own_work')],
  ['order', ({ said }) => said.has('order')],
  ['order', ({ said }, { blocks }, speaker) => said.has('change') && (speaker === 'message' || blocks === 2)],
  // two texts that are held against each other are told apart by their places
  ['order', ({ said }, { blocks }) => blocks === 2 && said.has('comparing')],
  ['named', ({ sizes }, { blocks }) => sizes.has(blocks)],
  [
    'named',
    ({ said }, { isPositional, isLabelled = isPositional }) => said.has('which') && (isPositional || !isLabelled),
  ],
  ['numbers', ({ said }, { isPositional }) => said.has('data') && isPositional],
  ['numbers', ({ forms }, list) => list.isPositional && areUnmapped(forms, list)],
  // rules put numbers in brackets to show how to cite
  ['named', ({ remarks }, list, speaker) => speaksOf(remarks, list, speaker === 'message')],
]

/** Reasons about the texts and their order: they do not count where the sender states that the order means nothing. */
const aboutOrder: ReadonlySet<Reason | undefined> = new Set<Reason>(['task', 'own_work', 'order'])

/**
 * Returns why words beside a list forbid to move its blocks. Words that were judged before are not read again, whatever
 * the list.
 */
export function judgeWords(words: string, list: JudgedList, speaker: Speaker = 'message'): Reason | undefined {
  const signs = readWords(words, speaker)
  const open = vetoes.filter(([reason]) => !list.isSet || !aboutOrder.has(reason))
  return open.find(([, holds]) => holds(signs, list, speaker))?.[0]
}

/** Returns why the task leaves a list of a message alone, judged by the words around it. */
export function judgeTask(words: string, { length }: { readonly length: number }): Reason | undefined {
  const reason = judgeWords(words, { blocks: length, labels: [], prefix: '', isPositional: false, isLabelled: true })
  return aboutOrder.has(reason) ? reason : undefined
}

/** Whether remarks name a block of a list by number or place. */
export function speaksOf(remarks: Remarks, list: JudgedList, readsBrackets = true): boolean {
  if (remarks.size === 0) return false
  const { labels, isPositional, isLabelled = isPositional, ownWords } = list
  const words = ['*', isLabelled ? '[' : '~', ...(ownWords?.() ?? [])]
  return words.some((word) => {
    if (remarks.has(`${word} nth`)) return true
    return (readsBrackets || word !== '[') && labels.some((label) => remarks.has(`${word} ${label}`))
  })
}
