import { toAsciiDigits } from '../../../common/digits.ts'
import { readRemarks } from '../read-remarks.ts'
import { answerRules, asksForData, asksForMany, readForms } from './answer-words.ts'
import { orderRules } from './order-words.ts'
import { Phrases } from './phrases.ts'
import { placeRules } from './place-words.ts'
import { Reading } from './signs.ts'
import { taskRules } from './task-words.ts'

/** What words may say about any list, whatever it holds. */
export type Sign =
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
  /** one list says in other words what another one says */
  | 'in_other_words'
  /** right above texts, it gives their places a meaning */
  | 'head'

type Kind = keyof (typeof orderRules & typeof placeRules & typeof taskRules & typeof answerRules)
type Found = ReadonlySet<Kind>

const phrases = new Phrases<Kind>({ ...orderRules, ...placeRules, ...taskRules, ...answerRules })

/** in a request as short as this, what is compared or counted is the texts in sight */
const longestRequest = 80

/** How each is read from a sentence: the phrases in it, whether it is a rule, and the sentence in lower case. */
const readers: Readonly<Record<Sign, (found: Found, isRule: boolean, sentence: string) => boolean>> = {
  task: isAligned,
  own_work: (found, isRule) => !isRule && found.has('own_work'),
  order: isAboutOrder,
  data: (found, _, sentence) => asksForData(found, sentence),
  many: (found, _, sentence) => asksForMany(found, sentence),
  which: (found, isRule) => !isRule && found.has('which'),
  change: (found) => found.has('change') && refersToTexts(found),
  comparing: (found) => found.has('comparing'),
  subject: (found, isRule, { length }) =>
    found.has('subject') && (found.has('text') || (!isRule && length < longestRequest)),
  in_other_words: (found) => found.has('in_other_words'),
  head: (found) => !found.has('no_head') && orderKinds.some((kind) => found.has(kind)),
}
const signs = Object.keys(readers) as Sign[]

const orderKinds: readonly Kind[] = ['ordered', 'stated', 'of_texts', 'head']

/** Whether words mention retrieved texts, or stand for them. */
function refersToTexts(found: Found): boolean {
  return found.has('text') || found.has('they')
}

/**
 * Whether a sentence asks for something that follows the texts one by one, repeats or continues them. In rules for a
 * model, only if it is about texts.
 */
function isAligned(found: Found, isRule: boolean): boolean {
  if ((isRule && !found.has('text')) || found.has('of_sources')) return false
  if (found.has('aligned') || found.has('each_one')) return true
  if (found.has('rearranging') && !found.has('into_one')) return true
  return (found.has('repeating') || found.has('repeating_abroad')) && !found.has('of_answer')
}

/** Whether a sentence gives the places of texts a meaning. In rules for a model, only if it is about texts. */
function isAboutOrder(found: Found, isRule: boolean): boolean {
  if (found.has('stated') || (found.has('in_turn') && (!isRule || refersToTexts(found)))) return true
  if (found.has('relevance')) return false
  if (isRule) return refersToTexts(found) && (found.has('ordered') || (found.has('text') && found.has('of_texts')))
  return found.has('ordered') || found.has('this_order') || (refersToTexts(found) && found.has('of_texts'))
}

/** What a sentence says. */
export interface SentenceSigns {
  readonly said: readonly Sign[]
  /** what counts together with other sentences: roles, that an example begins, and that a text is to be quoted or cited */
  readonly apart: readonly Kind[]
  /** what is called by a number or place */
  readonly remarks: readonly string[]
  /** forms of citation that are asked for */
  readonly forms: readonly string[]
}

const apartKinds: readonly Kind[] = ['premise', 'hypothesis', 'example', 'asked']

/** What most sentences say: nothing. They share it, since thousands are remembered. */
export const silent: SentenceSigns = { said: [], apart: [], remarks: [], forms: [] }

/** Reads a sentence, once for all lists. */
export function readSentence(written: string, isRule: boolean): SentenceSigns {
  const counted = toAsciiDigits(written)
  const sentence = counted.toLowerCase()
  const reading = new Reading(sentence)
  const found = phrases.find(reading)
  const isCalled = found.has('called') || found.has('by_place')
  const own: SentenceSigns = {
    said: signs.filter((sign) => readers[sign](found, isRule, sentence)),
    apart: apartKinds.filter((kind) => found.has(kind)),
    remarks: [...readRemarks(counted, reading, found.has('showing')), ...(isCalled ? ['* nth'] : [])],
    forms: readForms(found, written),
  }
  return Object.values(own).every(({ length }) => length === 0) ? silent : own
}
