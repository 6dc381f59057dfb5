import { isOfOwnText } from '../judge/own-work.ts'
import type { Reason } from '../judge/reasons.ts'
import { asksInOrder, readEnds, saysInOrder } from './order-words.ts'

/** Why what is asked for leaves all lists of a message alone, by the words around these. */
export function judgeTask(words: string): Reason | undefined {
  if (asksInOrder(words) || saysInOrder(words)) return 'task'
  return isOfOwnText(readEnds(words)) ? 'own_work' : undefined
}
