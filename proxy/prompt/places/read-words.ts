import { LRUCache } from 'lru-cache'
import { digestOf } from '#index/context-block.ts'
import { isOfOwnText } from '../judge/own-work.ts'
import { findParallelLists } from './find-parallel-lists.ts'
import { type Remarks, readRemarks } from './read-remarks.ts'
import type { AskedForms } from './words/citation-specimens.ts'
import { readForms } from './words/citation-specimens.ts'
import { readAskedData } from './words/data-words.ts'
import { isAboutOrder } from './words/order-words.ts'
import { type Roles, readRoles } from './words/role-words.ts'
import { readEnds, sentencesOf } from './words/sentences.ts'
import { isAligned } from './words/task-words.ts'
import { asksWhich } from './words/text-words.ts'

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

/** Words of so many messages are remembered; a system prompt is read once, not with every request. */
const remembered = new LRUCache<string, WordSigns>({ max: 2_000 })

/** Reads what words say about any list. */
export function readWords(words: string, speaker: Speaker): WordSigns {
  const key = digestOf(`${speaker}\0${words}`)
  const known = remembered.get(key)
  if (known) return known
  const signs = read(words, speaker)
  remembered.set(key, signs)
  return signs
}

function read(words: string, speaker: Speaker): WordSigns {
  const ends = readEnds(words)
  const isRule = speaker === 'rules'
  const written = sentencesOf(ends)
  const sentences = written.map((sentence) => sentence.toLowerCase())
  const data = sentences.map(readAskedData)
  const forms = written.map(readForms)
  return {
    isTask: sentences.some((sentence) => isAligned(sentence, isRule)),
    isOwnWork: !isRule && isOfOwnText(ends),
    isOrder: sentences.some((sentence) => isAboutOrder(sentence, isRule)),
    isData: data.some((own) => own.isData),
    isMany: data.some((own) => own.isMany),
    isWhich: !isRule && sentences.some(asksWhich),
    forms: { specimens: forms.flatMap((own) => own.specimens), isByNumber: forms.some((own) => own.isByNumber) },
    roles: readRoles(sentences, isRule),
    sizes: findParallelLists(ends),
    remarks: readRemarks(words),
  }
}
