import { LRUCache } from 'lru-cache'
import { digestOf } from '#index/context-block.ts'
import { getOrMake } from '#index/get-or-make.ts'
import { narrow } from '../scan/narrow.ts'
import { findParallelLists } from './find-parallel-lists.ts'
import { type Remarks, readRemarks } from './read-remarks.ts'
import { readForms } from './words/citation-specimens.ts'
import { asksForData, asksForMany } from './words/data-words.ts'
import { isAboutOrder, isHeadOfOrder } from './words/order-words.ts'
import { COMPARING, isOfChange, isOfSubject, namesRoles, namesRolesApart } from './words/role-words.ts'
import { isAligned, OF_OWN_TEXT } from './words/task-words.ts'
import { WHICH } from './words/text-words.ts'
import { readEnds, sentencesOf } from './words/word-patterns.ts'

/** Who says words beside a list: rules for a model are about its answers in general, the rest about this list. */
export type Speaker = 'rules' | 'message'

/** What words may say about any list, whatever it holds. */
type Sign =
  /** the answer follows the texts one by one, repeats or continues them */
  | 'task'
  /** the person asking has written them */
  | 'own_work'
  /** their order has a meaning */
  | 'order'
  /** the answer is data, in which numbers are not mapped back */
  | 'data'
  /** it may hold a value for each text */
  | 'many'
  /** it names one of the texts */
  | 'which'
  /** it is about what changed from text to text */
  | 'change'
  /** texts are held against each other */
  | 'comparing'
  /** nothing of them may be left out: they are compared, quoted or counted */
  | 'subject'

/** How each is read from a sentence, in lower case and as it is written. */
const readers: Readonly<Record<Sign, (sentence: string, isRule: boolean, written: string) => boolean>> = {
  task: isAligned,
  own_work: (_, isRule, written) => !isRule && OF_OWN_TEXT.test(written),
  order: (sentence, isRule) => isAboutOrder(sentence, isRule) || namesRoles(sentence),
  data: asksForData,
  many: asksForMany,
  which: (sentence, isRule) => !isRule && WHICH.test(sentence),
  change: isOfChange,
  comparing: (sentence) => COMPARING.test(sentence),
  subject: isOfSubject,
}
const signs = Object.keys(readers) as Sign[]

interface SentenceSigns {
  readonly said: readonly Sign[]
  /** forms of citation that are asked for */
  readonly forms: readonly string[]
}

/** What words say about any list. */
export interface WordSigns {
  readonly said: ReadonlySet<Sign>
  readonly forms: readonly string[]
  /** sizes of lists that are parallel to the texts */
  readonly sizes: ReadonlySet<number>
  readonly remarks: Remarks
}

const BLANK_LINE = /\n(?:[ \t\r]*\n)+/

/** Words, paragraphs, sentences and headings are remembered by digest: a template's are read once, and with each request only what is new. */
const remembered = new LRUCache<string, WordSigns>({ max: 2_000 })
const rememberedRemarks = new LRUCache<string, Remarks>({ max: 8_000 })
const rememberedSentences = new LRUCache<string, SentenceSigns>({ max: 8_000 })
const rememberedHeadings = new LRUCache<string, { readonly isOrder: boolean }>({ max: 2_000 })

/** Whether the line right above texts, whatever it calls them, gives their places a meaning. */
export function headsAnOrder(line: string): boolean {
  if (line === '') return false
  return recall(rememberedHeadings, line, (own) => ({ isOrder: isHeadOfOrder(own.toLowerCase()) })).isOrder
}

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
  const sentences = sentencesOf(ends).map((sentence) =>
    recall(rememberedSentences, sentence, (own) => readSentence(own, speaker === 'rules'), speaker),
  )
  const said = new Set(sentences.flatMap((own) => own.said))
  if (namesRolesApart(ends.toLowerCase())) said.add('order')
  // nothing that is said of a text goes on behind a blank line
  const paragraphs = words.split(BLANK_LINE).filter(Boolean)
  const remarks = paragraphs.flatMap((paragraph) => [...recall(rememberedRemarks, paragraph, readRemarks)])
  return {
    said,
    forms: sentences.flatMap(({ forms }) => forms),
    sizes: findParallelLists(ends),
    remarks: new Set(remarks),
  }
}

function readSentence(written: string, isRule: boolean): SentenceSigns {
  const sentence = written.toLowerCase()
  return { said: signs.filter((sign) => readers[sign](sentence, isRule, written)), forms: readForms(written) }
}
