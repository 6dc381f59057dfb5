import { isOfOwnText } from '../judge/own-work.ts'
import type { Reason } from '../judge/reasons.ts'
import { asksInOrder, readEnds, saysInOrder } from './order-words.ts'

/** Returns why the task leaves all lists of a message alone, judged by the words around them. */
export function judgeTask(words: string): Reason | undefined {
  if (asksInOrder(words) || saysInOrder(words)) return 'task'
  return isOfOwnText(readEnds(words)) ? 'own_work' : undefined
}
