import { holdCitations } from '../../answer/citations/hold-citations.ts'
import { placeLabels } from '../body/prompt-context.ts'
import { labelFormOf } from '../citation-map.ts'
import type { LaidOutMessage } from '../layout.ts'
import type { UnmappedNames } from '../places/mark-spoken-of.ts'
import { isTranslatable } from './read-references.ts'
import { type ListItem, readItems, type TextItem } from './turn-items.ts'

type Item = ListItem | TextItem

/**
 * Returns a prompt's messages with the orders that past turns can be sent in again. Later turns speak of a list as the
 * client saw it; `translateHistory` writes them in the labels that the engine reads. Where that cannot be done, because
 * a user counts blocks or a number may mean two lists, everything from the list on goes as received. A list that was
 * never moved stays if an answer cites it.
 */
export function settleHistory(
  messages: readonly LaidOutMessage[],
  texts: readonly string[],
  unmapped: UnmappedNames | undefined,
): LaidOutMessage[] {
  const lastAnswer = messages.findLastIndex(({ message }) => isAnswer(message.role) || message.isRendered)
  if (lastAnswer < 0 || messages.every(({ contexts }) => contexts.length === 0)) return [...messages]
  const items = readItems(messages, texts)
  const lists = items.filter((item) => item.kind === 'list')
  const dropped = lists.find((list) => list.moved && !canRepeat(list, items, messages, texts, unmapped))
  const from = dropped ? lists.indexOf(dropped) : lists.length
  const left = new Set(lists.slice(from))
  return messages.map((laidOut, message) => {
    const own = lists.filter((list) => list.message === message)
    if (own.length === 0) return laidOut
    const past = laidOut.contexts.map(({ slots }, place) => {
      const list = own.find((item) => item.place === place)
      const isLeft = list !== undefined && left.has(list) && laidOut.past[place] !== undefined
      return isLeft ? { order: [...slots.keys()], annotation: undefined, pointers: [] } : laidOut.past[place]
    })
    const contexts = laidOut.contexts.map((context, place) => {
      const list = own.find((item) => item.place === place)
      const isCited = list !== undefined && past[place] === undefined && isCitedLater(list, items, texts)
      return isCited ? { ...context, isSpokenOf: true } : context
    })
    return { ...laidOut, contexts, past: laidOut.past.length > 0 ? past : laidOut.past }
  })
}

/** Returns whether all that is said about a moved list in later turns can be translated. */
function canRepeat(
  list: ListItem,
  items: readonly Item[],
  messages: readonly LaidOutMessage[],
  texts: readonly string[],
  unmapped: UnmappedNames | undefined,
): boolean {
  if (list.context.positional && (unmapped?.inAnswer || unmapped?.inCalls)) return false
  const later = laterTexts(list, items)
  if (later.some((text) => !isTranslatable(text, list, items, texts))) return false
  return !messages.slice(list.message + 1).some((laidOut) => holdsThought(laidOut, list, texts))
}

/** Returns the texts of the turns after a list, from the first answer on. */
export function laterTexts(list: ListItem, items: readonly Item[]): TextItem[] {
  const behind = items.slice(items.indexOf(list) + 1).filter((item) => item.kind === 'text')
  const answer = behind.findIndex(({ speaker }) => speaker === 'assistant' || speaker === 'unknown')
  return answer < 0 ? [] : behind.slice(answer)
}

/** Returns whether reasoning in a history, which is not written anew, cites the list. */
function holdsThought({ message: { role, rest } }: LaidOutMessage, list: ListItem, texts: readonly string[]): boolean {
  const form = labelFormOf(texts, list.context)
  if (!form || !isAnswer(role) || !/"(?:reasoning|thinking)/.test(rest)) return false
  return holdCitations([rest], form, placeLabels(list.context, texts))
}

function isCitedLater(list: ListItem, items: readonly Item[], texts: readonly string[]): boolean {
  const form = labelFormOf(texts, list.context)
  if (!form) return false
  const said = laterTexts(list, items).filter(({ speaker }) => speaker === 'assistant')
  return holdCitations(
    said.map(({ text, start, end }) => texts[text]!.slice(start, end)),
    form,
    placeLabels(list.context, texts),
  )
}

function isAnswer(role: string): boolean {
  return role === 'assistant' || role === 'reasoning'
}
