import { getOrMake } from '#index/get-or-make.ts'
import { countEach } from '#index/group-by.ts'
import { CitationLabels, type CitationMap } from '../../answer/citations/citation-labels.ts'
import { CitationMapper } from '../../answer/citations/map-citations.ts'
import { applySplices, type Span, type Splice } from '../../common/json/json-spans.ts'
import type { LaidOutMessage } from '../layout.ts'
import { type ListItem, type TextItem, TurnItems } from './turn-items.ts'

/**
 * Returns the messages with the changes to later turns that make them speak of moved lists in the labels that the engine
 * reads. An answer whose citations were mapped back is restored byte for byte. Depends on nothing but the orders of the
 * past turns.
 */
export function translateHistory(messages: readonly LaidOutMessage[], texts: readonly string[]): LaidOutMessage[] {
  if (messages.every(({ past }) => past.length === 0)) return [...messages]
  const items = new TurnItems(messages, texts)
  const first = items.lists.find((list) => list.moved)
  if (!first) return [...messages]
  const lists = items.lists.map((list) => toNumbered(list, items))
  const changes = messages.map(() => new Map<number, Splice[]>())
  for (const item of items.textsAfter(first)) {
    const { message, text, start, end } = item
    const map = mapFor(item, items, lists)
    if (map.length === 0) continue
    const mapper = new CitationMapper(new CitationLabels(map))
    const found = mapper.advance(texts[text]!.slice(start, end), true).changes
    if (found.length > 0) getOrMake(changes[message]!, text, () => []).push(...shift(found, start))
  }
  return messages.map((laidOut, i) => (changes[i]!.size > 0 ? { ...laidOut, translations: changes[i]! } : laidOut))
}

interface NumberedList extends ListItem {
  /** the first text that may speak of it as moved */
  readonly answered: number
  /** as received → as sent; empty if it has no labels that belong to places */
  readonly map: CitationMap
}

function toNumbered(list: ListItem, items: TurnItems): NumberedList {
  const { context, form, labels, moved } = list
  const order = moved?.order ?? [...context.slots.keys()]
  const map = form ? [{ ...form, labels: new Map(order.map((from, place) => [labels[from]!, labels[place]!])) }] : []
  return { ...list, answered: items.textsAfter(list)[0]?.at ?? Number.POSITIVE_INFINITY, map }
}

/** Returns the labels that a text speaks of: an answer those of all lists before it, a user those of moved ones. */
function mapFor(item: TextItem, items: TurnItems, lists: readonly NumberedList[]): CitationMap {
  const before = lists.filter(({ at }) => at < item.at)
  if (item.speaker === 'assistant') return before.flatMap(({ map }) => map)
  if (item.speaker !== 'user' || items.isListed(item)) return []
  const counts = countEach(before.flatMap(({ labels }) => labels))
  // a number that several lists have is no citation, or the lists would not be moved
  const isOwn = ([received, sent]: [string, string]): boolean => counts.get(received) === 1 && counts.get(sent) === 1
  return before
    .filter(({ moved, answered }) => moved && answered <= item.at)
    .flatMap(({ map }) => map.map(({ labels, ...form }) => ({ ...form, labels: new Map([...labels].filter(isOwn)) })))
}

/** Returns a stretch of a message's text as the engine reads it, and the changes to it. */
export function translate(
  { translations }: LaidOutMessage,
  place: number,
  received: string,
  { start, end }: Span,
): { text: string; changes: readonly Splice[] } {
  const changes = (translations?.get(place) ?? []).filter((change) => change.start >= start && change.end <= end)
  const text = received.slice(start, end)
  return { text: changes.length > 0 ? applySplices(text, shift(changes, -start)) : text, changes }
}

function shift(changes: readonly Splice[], by: number): Splice[] {
  return changes.map(({ start, end, text }) => ({ start: start + by, end: end + by, text }))
}
