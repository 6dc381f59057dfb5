import type { LabelForm } from '../../answer/citations/citation-labels.ts'
import type { Reason } from '../judge/reasons.ts'
import { areUnmapped } from './citation-specimens.ts'
import type { Remarks } from './read-remarks.ts'
import { readWords, type Speaker } from './read-words.ts'

/** What words are judged for: a list of blocks. */
export interface JudgedList extends Pick<LabelForm, 'tag' | 'isInParentheses'> {
  readonly blocks: number
  /** numbers by which a model may call its blocks; empty if labels move with the blocks */
  readonly labels: readonly string[]
  /** what precedes the number in a label */
  readonly prefix: string
  readonly isPositional: boolean
  /** its blocks bear labels, which may move with them */
  readonly isLabelled?: boolean
  /** the sender states that its order means nothing */
  readonly isSet?: boolean
}

const smallPair = 2

/**
 * Returns why words beside a list forbid to move its blocks. Words that were judged before are not read again, whatever
 * the list.
 */
export function judgeWords(words: string, list: JudgedList, speaker: Speaker = 'message'): Reason | undefined {
  const { isTask, isOwnWork, isOrder, isData, isMany, isWhich, forms, roles, sizes, remarks } = readWords(words, speaker)
  if (!list.isSet) {
    if (isTask || isMany) return 'task'
    if (isOwnWork) return 'own_work'
    if (isOrder || roles.arePaired) return 'order'
    if (list.blocks === smallPair && (roles.isChange || roles.isComparing)) return 'order'
    if (roles.isChange && speaker === 'message') return 'order'
  }
  if (sizes.has(list.blocks)) return 'named'
  if (isWhich && !list.isPositional && !list.isLabelled) return 'named'
  if (list.isPositional && (isData || areUnmapped(forms, list))) return 'numbers'
  // rules put numbers in brackets to show how to cite
  return speaksOf(remarks, list, speaker === 'message') ? 'named' : undefined
}

/** Whether remarks name a block of a list by number or place. */
export function speaksOf(
  { isCounted, isPartCounted, worded, bracketed }: Remarks,
  { labels, isPositional, isLabelled = isPositional }: JudgedList,
  readsBrackets = true,
): boolean {
  if (isCounted || (isPartCounted && !isLabelled)) return true
  return labels.some((label) => worded.has(label) || (readsBrackets && isLabelled && bracketed.has(label)))
}
