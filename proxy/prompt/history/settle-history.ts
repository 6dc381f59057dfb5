import { getOrMake } from '#index/get-or-make.ts'
import { findCitations, holdCitations } from '../../answer/citations/mapped-forms.ts'
import { toAsciiDigits } from '../../common/digits.ts'
import { applySplices } from '../../common/json/json-spans.ts'
import type { PromptMessage } from '../body/prompt.ts'
import type { LaidOutMessage } from '../layout.ts'
import { type JudgedList, judgeSigns, judgeWords, readWords, type WordSigns } from '../places/judge-words.ts'
import { type Heard, type Stays, toHeard } from '../places/mark-spoken-of.ts'
import { toJudgedList } from '../places/to-judged-list.ts'
import { isOfSystem } from '../places/words-outside.ts'
import { asReceived } from '../turns/turn-memory.ts'
import { type ListItem, type TextItem, TurnItems } from './turn-items.ts'

/** What a request says of the answer, besides its words. */
type Wanted = Pick<Stays, 'numbers' | 'data' | 'isSet'> & {
  /** numbers in the answer are mapped back, and those in its history translated */
  readonly isMapped: boolean
}

/**
 * Returns a prompt's messages with the orders that past turns can be sent in again. Later turns speak of a list as the
 * client saw it; `translateHistory` writes them in the labels that the engine reads. Where that cannot be done, because
 * a user counts blocks or a number may mean two lists, or because what is asked for now forbids to move the list,
 * everything from the list on goes as received, and so it does if reading all numbers would take long. A list that was
 * never sent stays if an answer cites it.
 */
export function settleHistory(
  messages: readonly LaidOutMessage[],
  texts: readonly string[],
  wanted: Wanted,
): LaidOutMessage[] {
  const isRepeated = messages.some(({ past }) => past.length > 0)
  if (!isRepeated && !messages.some(({ message }) => isAnswer(message.role) || message.isRendered)) return [...messages]
  const items = new TurnItems(messages, texts)
  const moved = items.lists.filter((list) => list.moved)
  const rules = moved.length > 0 ? messages.filter(isOfSystem) : []
  const heard = new Map<LaidOutMessage, Heard>()
  const read = new Map<TextItem, Asked>()
  const thoughts = items.lists.length === 0 ? [] : messages.map(({ message }) => thoughtsIn(message))
  const canRepeat = (list: ListItem): boolean => {
    const { context, form, labels } = list
    if ((wanted.numbers && context.positional) || (wanted.data && !wanted.isSet)) return false
    const judged = toJudgedList(context, texts, { form, labels, isSet: wanted.isSet })
    const beside = [...rules, ...askedBeside(list, items, messages)]
    const areRead = beside.map((found) => getOrMake(heard, found, () => toHeard(found, texts)))
    if (areRead.some(({ words, speaker }) => judgeWords(words, judged, speaker))) return false
    const asked = askedAfter(list, items).map((item) => getOrMake(read, item, () => readAsked(texts, item)))
    // numbers are translated
    const unnumbered = { ...judged, labels: [] }
    if (!asked.every((one) => isAllowed(withoutCitations(one, list), unnumbered))) return false
    if (!wanted.isMapped) return true
    return areTranslatable(list, asked, items) && !thoughts.slice(list.message + 1).some(holdCitationsOf(list))
  }
  const hasTooMany = holdsTooManyNumbers(items, thoughts, texts)
  const dropped = hasTooMany ? moved[0] : moved.find((list) => !canRepeat(list))
  const settled = dropped ? leaveFrom(dropped, messages) : [...messages]
  if (!wanted.isMapped) return settled
  for (const { message, place } of items.lists.filter(isCitedLater(items, thoughts, texts, hasTooMany))) {
    const laidOut = settled[message]!
    if (laidOut.past[place] !== undefined) continue
    const contexts = laidOut.contexts.map((context, i) => (i === place ? { ...context, isSpokenOf: true } : context))
    settled[message] = { ...laidOut, contexts }
  }
  return settled
}

/** Returns the messages with everything that was sent before as received, from a list on: pointers name its labels. */
function leaveFrom(first: ListItem, messages: readonly LaidOutMessage[]): LaidOutMessage[] {
  return messages.map((laidOut, message) => {
    if (message < first.message || laidOut.past.length === 0) return laidOut
    const past = laidOut.contexts.map(({ slots }, place) => {
      const sent = laidOut.past[place]
      const isBefore = message === first.message && place < first.place
      return isBefore || !sent ? sent : asReceived(slots)
    })
    return { ...laidOut, past }
  })
}

/**
 * Returns the messages of users that a list is sent with, up to its first answer: they may ask something else than when it
 * was sent.
 */
function askedBeside(list: ListItem, items: TurnItems, messages: readonly LaidOutMessage[]): LaidOutMessage[] {
  const answer = items.textsAfter(list)[0]?.message ?? messages.length
  return messages.slice(list.message + 1, answer).filter(({ message }) => message.role === 'user')
}

/** What is said in a turn after a list. */
interface Asked {
  readonly item: TextItem
  readonly words: string
  readonly signs: WordSigns
  readonly numbers: readonly RegExpExecArray[]
}

/** Returns what users say in the turns after a list. Turns with lists of their own speak of these. */
function askedAfter(list: ListItem, items: TurnItems): TextItem[] {
  return items
    .textsAfter(list)
    .filter((item) => item.speaker === 'unknown' || (item.speaker === 'user' && !items.isListed(item)))
}

function readAsked(texts: readonly string[], item: TextItem): Asked {
  const words = texts[item.text]!.slice(item.start, item.end)
  return { item, words, signs: readWords(words, 'message'), numbers: [...toAsciiDigits(words).matchAll(/\d+/g)] }
}

/** Returns numbers that may be labels of a list. */
function numbersOf({ numbers }: Asked, { labels }: ListItem): readonly RegExpExecArray[] {
  return numbers.filter(([number]) => labels.includes(number))
}

/** Returns what is said besides numbers that are translated. */
function withoutCitations(asked: Asked, list: ListItem): WordSigns {
  const { form, labels } = list
  if (!form || numbersOf(asked, list).length === 0) return asked.signs
  const cited = findCitations(asked.words, form, labels).map((span) => ({ ...span, text: '' }))
  return readWords(applySplices(asked.words, cited), 'message')
}

/** Returns whether words count no blocks, nor anything else, and do not forbid to move a list. */
function isAllowed(signs: WordSigns, judged: JudgedList): boolean {
  return (
    judgeSigns(signs, judged, 'message') === undefined && ![...signs.remarks].some((remark) => remark.endsWith(' nth'))
  )
}

/**
 * Returns whether every number that may be a label of a moved list is a citation of only this list in the turns after it.
 * Answers can always be translated.
 */
function areTranslatable(list: ListItem, asked: readonly Asked[], items: TurnItems): boolean {
  const { form, labels: own } = list
  const toSent = (number: string): string => own[list.moved!.order.indexOf(own.indexOf(number))]!
  return asked.every((one) => {
    const { item, words } = one
    const named = numbersOf(one, list)
    if (named.length === 0) return true
    if (!form || item.speaker === 'unknown') return false
    const others = items.listsBefore(item).filter((other) => other !== list)
    const labels = new Set(others.flatMap((other) => other.labels))
    // neither the number nor the label that it is sent as may mean another list
    if (named.some(([number]) => labels.has(number) || labels.has(toSent(number)))) return false
    const cited = findCitations(words, form, own)
    return named.every(({ index }) => cited.some(({ start, end }) => start <= index && index < end))
  })
}

/** Finds reasoning in a history, which is not written anew, that cites the list. */
function holdCitationsOf({ form, labels }: ListItem): (thoughts: readonly string[]) => boolean {
  return (thoughts) => form !== undefined && thoughts.some((text) => holdCitations(text, form, labels))
}

/** Returns the texts of an answer's reasoning. Numbers in JSON itself cite nothing. */
function thoughtsIn({ role, rest }: PromptMessage): readonly string[] {
  if (!isAnswer(role) || !/"(?:reasoning|thinking)/.test(rest)) return []
  const texts: string[] = []
  // a reviver would be called within itself as deep as the JSON is
  const left: unknown[] = [JSON.parse(rest)]
  while (left.length > 0) {
    const value = left.pop()
    if (typeof value === 'string') texts.push(value)
    else if (typeof value === 'object' && value !== null) for (const own of Object.values(value)) left.push(own)
  }
  return texts
}

/** What is said after a list has fewer numbers; each may be a citation, and takes microseconds to read. */
const mostNumbers = 5_000

/** `thoughts`: the reasoning in each message. */
function holdsTooManyNumbers(
  items: TurnItems,
  thoughts: readonly (readonly string[])[],
  texts: readonly string[],
): boolean {
  const [first] = items.lists
  if (!first) return false
  const said = items
    .textsAfter(first)
    .flatMap(({ speaker, text, start, end }) => (speaker === 'other' ? [] : texts[text]!.slice(start, end)))
  let count = 0
  for (const words of [...said, ...thoughts.slice(first.message + 1).flat()])
    for (const _ of words.matchAll(/\p{Nd}+/gu)) if (++count > mostNumbers) return true
  return false
}

/**
 * Finds lists that are cited after them, by answers or by their reasoning (`thoughts`, of each message). These are all
 * that have labels if too many numbers are to be read. Reads the answers once for all lists with the same labels.
 */
function isCitedLater(
  items: TurnItems,
  thoughts: readonly (readonly string[])[],
  texts: readonly string[],
  hasTooMany: boolean,
): (list: ListItem) => boolean {
  const said = items.texts.flatMap(({ speaker, at, text, start, end }) =>
    speaker === 'assistant' ? { at, words: texts[text]!.slice(start, end) } : [],
  )
  const thought = thoughts.flatMap((own, place) => {
    const at = items.lists.findLast(({ form, message }) => form && message < place)?.at
    return at === undefined ? [] : own.map((words) => ({ at, words }))
  })
  const answers = [...said, ...thought].sort((one, other) => one.at - other.at)
  /** by labels: the last answer that cites them */
  const lastCited = new Map<string, { readonly at: number }>()
  return ({ at, form, labels }) => {
    if (!form || (answers.at(-1)?.at ?? -1) < at) return false
    if (hasTooMany) return true
    const key = JSON.stringify([form, labels])
    const isCiting = ({ words }: { readonly words: string }): boolean =>
      holdCitations(words, form, labels, { isDocument: false })
    return getOrMake(lastCited, key, () => answers.findLast(isCiting) ?? { at: -1 }).at >= at
  }
}

function isAnswer(role: string): boolean {
  return role === 'assistant' || role === 'reasoning'
}
