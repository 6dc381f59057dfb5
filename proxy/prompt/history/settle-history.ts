import { getOrMake } from '#index/get-or-make.ts'
import { findCitations, holdCitations } from '../../answer/citations/mapped-forms.ts'
import type { LaidOutMessage } from '../layout.ts'
import { readWords } from '../places/judge-words.ts'
import type { Stays } from '../places/mark-spoken-of.ts'
import { toAsciiDigits } from '../scan/words/digits.ts'
import { asReceived } from '../turns/turn-memory.ts'
import { type ListItem, type TextItem, TurnItems } from './turn-items.ts'

/**
 * Returns a prompt's messages with the orders that past turns can be sent in again. Later turns speak of a list as the
 * client saw it; `translateHistory` writes them in the labels that the engine reads. Where that cannot be done, because
 * a user counts blocks or a number may mean two lists, everything from the list on goes as received. A list that was
 * never sent stays if an answer cites it.
 */
export function settleHistory(
  messages: readonly LaidOutMessage[],
  texts: readonly string[],
  stays: Pick<Stays, 'numbers'> = { numbers: false },
): LaidOutMessage[] {
  if (!messages.some(({ message }) => isAnswer(message.role) || message.isRendered)) return [...messages]
  const items = new TurnItems(messages, texts)
  const spoken = new Map<TextItem, Spoken>()
  const canRepeat = (list: ListItem): boolean =>
    !(list.context.positional && stays.numbers) &&
    areTranslatable(list, items, texts, spoken) &&
    !messages.slice(list.message + 1).some(holdsThoughtOf(list))
  const dropped = items.lists.find((list) => list.moved && !canRepeat(list))
  const settled = dropped ? leaveFrom(dropped, messages) : [...messages]
  for (const { message, place } of items.lists.filter(isCitedLater(items, texts))) {
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

/** What a later turn says that may mean blocks. */
interface Spoken {
  readonly words: string
  readonly isCounting: boolean
  readonly numbers: readonly RegExpExecArray[]
}

function readSpoken(texts: readonly string[], { text, start, end }: TextItem): Spoken {
  const words = texts[text]!.slice(start, end)
  const isCounting = [...readWords(words, 'message').remarks].some((remark) => remark.endsWith(' nth'))
  return { words, isCounting, numbers: [...toAsciiDigits(words).matchAll(/\d+/g)] }
}

/**
 * Returns whether users count no blocks in the turns after a moved list, nor anything else, and every number that may be a
 * label of the list is a citation of only this list. Turns with lists of their own speak of these. Answers can always be
 * translated.
 */
function areTranslatable(
  list: ListItem,
  items: TurnItems,
  texts: readonly string[],
  spoken: Map<TextItem, Spoken>,
): boolean {
  const { form, labels: own } = list
  const toSent = (number: string): string => own[list.moved!.order.indexOf(own.indexOf(number))]!
  return items.textsAfter(list).every((text) => {
    if (text.speaker !== 'unknown' && (text.speaker !== 'user' || items.isListed(text))) return true
    const { words, isCounting, numbers } = getOrMake(spoken, text, () => readSpoken(texts, text))
    if (isCounting) return false
    const named = numbers.filter(([number]) => own.includes(number))
    if (named.length === 0) return true
    if (!form || text.speaker === 'unknown') return false
    const others = items.listsBefore(text).filter((other) => other !== list)
    const labels = new Set(others.flatMap((other) => other.labels))
    // neither the number nor the label that it is sent as may mean another list
    if (named.some(([number]) => labels.has(number) || labels.has(toSent(number)))) return false
    const cited = findCitations(words, form, own)
    return named.every(({ index }) => cited.some(({ start, end }) => start <= index && index < end))
  })
}

/** Finds reasoning in a history, which is not written anew, that cites the list. */
function holdsThoughtOf({ form, labels }: ListItem): (laidOut: LaidOutMessage) => boolean {
  return ({ message: { role, rest } }) =>
    form !== undefined && isAnswer(role) && holdsThought(rest) && holdCitations(rest, form, labels)
}

function holdsThought(rest: string): boolean {
  return rest.includes('"reasoning') || rest.includes('"thinking')
}

/** Finds lists that answers after them cite. Reads the answers once for all lists with the same labels. */
function isCitedLater(items: TurnItems, texts: readonly string[]): (list: ListItem) => boolean {
  const answers = items.texts.filter(({ speaker }) => speaker === 'assistant')
  /** by labels: the last answer that cites them */
  const lastCited = new Map<string, { readonly at: number }>()
  return ({ at, form, labels }) => {
    if (!form || (answers.at(-1)?.at ?? -1) < at) return false
    const key = JSON.stringify([form, labels])
    const isCiting = ({ text, start, end }: TextItem): boolean =>
      findCitations(texts[text]!.slice(start, end), form, labels).length > 0
    return getOrMake(lastCited, key, () => answers.findLast(isCiting) ?? { at: -1 }).at > at
  }
}

function isAnswer(role: string): boolean {
  return role === 'assistant' || role === 'reasoning'
}
