import { CitationLabels, type CitationMap } from '../../answer/citations/citation-labels.ts'
import { CitationMapper } from '../../answer/citations/map-citations.ts'
import { applySplices, type Span, type Splice } from '../../json/json-spans.ts'
import { placeLabels } from '../body/prompt-context.ts'
import { citationMapOf } from '../citation-map.ts'
import type { LaidOutMessage } from '../layout.ts'
import { laterTexts } from './settle-history.ts'
import { type ListItem, readItems, type TextItem } from './turn-items.ts'

/**
 * Returns the messages with the changes to later turns that make them speak of moved lists in the labels that the engine
 * reads. An answer whose citations were mapped back is restored byte for byte. Depends on nothing but the orders of the
 * past turns.
 */
export function translateHistory(messages: readonly LaidOutMessage[], texts: readonly string[]): LaidOutMessage[] {
  if (messages.every(({ past }) => past.length === 0)) return [...messages]
  const items = readItems(messages, texts)
  const moved = items.filter((item) => item.kind === 'list' && item.moved)
  if (moved.length === 0) return [...messages]
  const changes = messages.map(() => new Map<number, Splice[]>())
  const later = new Set(moved.flatMap((list) => laterTexts(list as ListItem, items)))
  for (const item of later) {
    const { message, text, start, end } = item
    const map = mapFor(item, items, texts)
    if (map.length === 0) continue
    const mapper = new CitationMapper(new CitationLabels(inverted(map)))
    const found = mapper.advance(texts[text]!.slice(start, end), true).changes
    const own = found.map((change) => ({ start: change.start + start, end: change.end + start, text: change.text }))
    if (own.length > 0) changes[message]!.set(text, [...(changes[message]!.get(text) ?? []), ...own])
  }
  return messages.map((laidOut, i) => (changes[i]!.size > 0 ? { ...laidOut, translations: changes[i]! } : laidOut))
}

/** Returns the labels that a text speaks of: an answer those of all lists before it, a user those of moved ones. */
function mapFor(item: TextItem, items: readonly (ListItem | TextItem)[], texts: readonly string[]): CitationMap {
  const { speaker, turn } = item
  const lists = items.slice(0, items.indexOf(item)).filter((other) => other.kind === 'list')
  const toOrdered = ({ context, moved }: ListItem): { found: typeof context; order: readonly number[] } => ({
    found: context,
    order: moved?.order ?? [...context.slots.keys()],
  })
  if (speaker === 'assistant') return citationMapOf(texts, lists.map(toOrdered))
  if (speaker !== 'user' || items.some((other) => other.kind === 'list' && other.turn === turn)) return []
  const moved = lists.filter((list) => list.moved)
  const map = citationMapOf(texts, moved.map(toOrdered))
  const counts = new Map<string, number>()
  for (const { context } of lists) {
    for (const label of placeLabels(context, texts)) counts.set(label, (counts.get(label) ?? 0) + 1)
  }
  // a number that several lists have was no citation, or the lists would not be moved
  return map.map(({ labels, ...form }) => ({
    ...form,
    labels: new Map([...labels].filter(([sent, received]) => counts.get(sent) === 1 && counts.get(received) === 1)),
  }))
}

function inverted(map: CitationMap): CitationMap {
  return map.map(({ labels, ...form }) => ({
    ...form,
    labels: new Map([...labels].map(([sent, received]) => [received, sent])),
  }))
}

/** Returns a stretch of a message's text as the engine reads it, and the changes to it. */
export function translate(
  { translations }: LaidOutMessage,
  place: number,
  received: string,
  { start, end }: Span,
): { text: string; changes: readonly Splice[] } {
  const changes = (translations?.get(place) ?? []).filter((change) => change.start >= start && change.end <= end)
  const own = changes.map(({ text, ...span }) => ({ start: span.start - start, end: span.end - start, text }))
  const text = received.slice(start, end)
  return { text: own.length > 0 ? applySplices(text, own) : text, changes }
}
