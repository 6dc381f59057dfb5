import { LRUCache } from 'lru-cache'
import { digestOf } from '#index/context-block.ts'
import { getOrMake } from '#index/get-or-make.ts'
import { isOfOwnText } from '../judge/own-work.ts'
import { narrow } from '../scan/narrow.ts'
import { findParallelLists } from './find-parallel-lists.ts'
import { type Remarks, readRemarks } from './read-remarks.ts'
import { type AskedForms, readForms } from './words/citation-specimens.ts'
import { readAskedData } from './words/data-words.ts'
import { isAboutOrder, isHeadOfOrder } from './words/order-words.ts'
import { joinRoles, type Roles, readRoles, type SentenceRoles } from './words/role-words.ts'
import { isAligned } from './words/task-words.ts'
import { asksWhich } from './words/text-words.ts'
import { readEnds, sentencesOf } from './words/word-patterns.ts'

/** Who says words beside a list: rules for a model are about its answers in general, the rest about this list. */
export type Speaker = 'rules' | 'message'

/** What words say about any list, whatever it holds. */
export interface WordSigns {
  /** the answer follows the texts one by one, repeats or continues them */
  readonly isTask: boolean
  /** the person asking has written them */
  readonly isOwnWork: boolean
  /** the order of the texts has a meaning */
  readonly isOrder: boolean
  /** the answer is data, in which numbers are not mapped back */
  readonly isData: boolean
  /** it may hold a value for each text */
  readonly isMany: boolean
  /** it names one of the texts */
  readonly isWhich: boolean
  readonly forms: AskedForms
  readonly roles: Roles
  /** sizes of lists that are parallel to the texts */
  readonly sizes: ReadonlySet<number>
  readonly remarks: Remarks
}

/** What one sentence says. */
interface SentenceSigns
  extends Pick<WordSigns, 'isTask' | 'isOwnWork' | 'isOrder' | 'isData' | 'isMany' | 'isWhich' | 'forms'> {
  readonly roles: SentenceRoles
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
  const isSaid = (sign: Exclude<keyof SentenceSigns, 'forms' | 'roles'>): boolean => sentences.some((own) => own[sign])
  return {
    isTask: isSaid('isTask'),
    isOwnWork: isSaid('isOwnWork'),
    isOrder: isSaid('isOrder'),
    isData: isSaid('isData'),
    isMany: isSaid('isMany'),
    isWhich: isSaid('isWhich'),
    forms: {
      specimens: sentences.flatMap(({ forms }) => forms.specimens),
      isByNumber: sentences.some(({ forms }) => forms.isByNumber),
    },
    roles: joinRoles(sentences.map(({ roles }) => roles)),
    sizes: findParallelLists(ends),
    remarks: remarksIn(words),
  }
}

/** Nothing that is said of a text goes on behind a blank line. */
function remarksIn(words: string): Remarks {
  const paragraphs = words.split(BLANK_LINE).filter(Boolean)
  return new Set(paragraphs.flatMap((paragraph) => [...recall(rememberedRemarks, paragraph, readRemarks)]))
}

function readSentence(written: string, isRule: boolean): SentenceSigns {
  const sentence = written.toLowerCase()
  // spread, it would give each sentence's signs a shape of their own, which takes V8 700 bytes
  const { isData, isMany } = readAskedData(sentence)
  return {
    isData,
    isMany,
    isTask: isAligned(sentence, isRule),
    isOwnWork: !isRule && isOfOwnText(written),
    isOrder: isAboutOrder(sentence, isRule),
    isWhich: !isRule && asksWhich(sentence),
    forms: readForms(written),
    roles: readRoles(sentence, isRule),
  }
}
