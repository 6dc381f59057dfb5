import { LRUCache } from 'lru-cache'
import { digestOf } from '#index/context-block.ts'
import { getOrMake } from '#index/get-or-make.ts'
import type { LabelForm } from '../../answer/citations/citation-labels.ts'
import type { Reason } from '../judge/reasons.ts'
import { BLANK_LINE, narrow } from '../scan/find-edges.ts'
import { findParallelLists } from './find-parallel-lists.ts'
import { isNumberAlone, type Remarks } from './read-remarks.ts'
import { arePlaces, areUnmapped } from './words/answer-words.ts'
import { readSentence, type SentenceSigns, type Sign, silent } from './words/read-sentence.ts'
import { isQuestion, readEnds, sentencesOf } from './words/sentences.ts'

/** Who says words beside a list: rules for a model are about its answers in general, the rest about this list. */
export type Speaker = 'rules' | 'message'

/** What words say about any list. */
export interface WordSigns {
  readonly said: ReadonlySet<Sign>
  readonly forms: readonly string[]
  /** sizes of lists that are parallel to the texts */
  readonly sizes: ReadonlySet<number>
  readonly remarks: Remarks
}

const none: ReadonlySet<never> = new Set()
const noSigns: WordSigns = { said: none, forms: [], sizes: none, remarks: none }

/** Words and sentences are remembered by digest: a template's are read once, and with each request only what is new. */
const remembered = new LRUCache<string, WordSigns>({ max: 2_000 })
const rememberedSentences = new LRUCache<string, SentenceSigns>({ max: 8_000 })

/** Reads what words say about any list. */
export function readWords(words: string, speaker: Speaker): WordSigns {
  return recall(remembered, words, (own) => read(own, speaker), speaker)
}

function recall<Signs extends object>(
  known: LRUCache<string, Signs>,
  words: string,
  readAnew: (words: string) => Signs,
  speaker: Speaker | '' = '',
): Signs {
  return getOrMake(known, digestOf(`${speaker}\0${words}`), () => readAnew(narrow(words)))
}

function read(words: string, speaker: Speaker): WordSigns {
  const ends = readEnds(words)
  const sentences = ends.split(BLANK_LINE).flatMap((paragraph) => readParagraph(paragraph, speaker))
  const sizes = findParallelLists(ends)
  if (sizes.size === 0 && sentences.every((own) => own === silent)) return noSigns
  const said = new Set(sentences.flatMap((own) => own.said))
  const apart = new Set(sentences.flatMap((own) => own.apart))
  if (apart.has('premise') && apart.has('hypothesis')) said.add('order')
  const remarks = new Set(sentences.flatMap((own) => own.remarks))
  // thousands are remembered, and most say little
  const orNone = <Value>(values: ReadonlySet<Value>): ReadonlySet<Value> => (values.size === 0 ? none : values)
  return {
    said: orNone(said),
    forms: sentences.flatMap(({ forms }) => forms),
    sizes: orNone(sizes),
    remarks: orNone(remarks),
  }
}

/** Reads the sentences of a paragraph. Numbers behind an example belong to it. */
function readParagraph(paragraph: string, speaker: Speaker): SentenceSigns[] {
  if (isNumberAlone(paragraph)) return [{ ...silent, remarks: ['* nth'] }]
  let isExample = false
  return sentencesOf(paragraph).map((sentence) => {
    const own = recall(rememberedSentences, sentence, (words) => readSentence(words, speaker === 'rules'), speaker)
    // what is asked, or asked for, is no example
    const isPart = isExample && own.remarks.length > 0 && !own.apart.includes('asked') && !isQuestion(sentence)
    isExample ||= own.apart.includes('example')
    return isPart ? { ...own, remarks: own.remarks.filter((remark) => remark.endsWith(' nth')) } : own
  })
}

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
  /** whether names and numbers in the words may be its blocks'; by default they may */
  readonly isNamed?: boolean
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
  // a number is the place of a text without a label, and nobody maps it
  ['numbers', ({ forms }, { isPositional, isLabelled = true }) => !isPositional && !isLabelled && arePlaces(forms)],
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
  return judgeSigns(readWords(words, speaker), list, speaker)
}

/** Does the same for words that were read. */
export function judgeSigns(signs: WordSigns, list: JudgedList, speaker: Speaker): Reason | undefined {
  if (signs === noSigns) return undefined
  const mayForbid = (reason: Reason): boolean =>
    reason === 'named' ? list.isNamed !== false : !(list.isSet && aboutOrder.has(reason))
  return vetoes.find(([reason, holds]) => mayForbid(reason) && holds(signs, list, speaker))?.[0]
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
