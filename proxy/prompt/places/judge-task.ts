import type { Reason } from '../judge/reasons.ts'
import { judgeWords } from './judge-words.ts'

const aboutTexts: ReadonlySet<Reason | undefined> = new Set<Reason>(['task', 'order', 'own_work'])

/** Returns why the task leaves a list of a message alone, judged by the words around it. */
export function judgeTask(words: string, { length }: { readonly length: number }): Reason | undefined {
  const reason = judgeWords(words, { blocks: length, labels: [], prefix: '', isPositional: false, isLabelled: true })
  return aboutTexts.has(reason) ? reason : undefined
}
