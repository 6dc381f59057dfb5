import { findCitations } from '../../answer/citations/hold-citations.ts'
import { placeLabels } from '../body/prompt-context.ts'
import { labelFormOf } from '../citation-map.ts'
import { readRemarks } from '../places/read-remarks.ts'
import { toAsciiDigits } from '../scan/words/digits.ts'
import type { ListItem, TextItem } from './turn-items.ts'

/**
 * Returns whether what a text says about a list's blocks can be written in other labels: it counts none, and each
 * number that may be a label of the list is a citation of only this list. Texts of turns with lists of their own speak
 * of these.
 */
export function isTranslatable(
  item: TextItem,
  list: ListItem,
  items: readonly (ListItem | TextItem)[],
  texts: readonly string[],
): boolean {
  const { speaker, turn } = item
  if (speaker === 'assistant' || speaker === 'other') return true
  const lists = items.slice(0, items.indexOf(item)).filter((other) => other.kind === 'list')
  if (speaker === 'user' && items.some((other) => other.kind === 'list' && other.turn === turn)) return true
  const words = texts[item.text]!.slice(item.start, item.end)
  if (countsBlocks(words)) return false
  const own = placeLabels(list.context, texts)
  const numbers = numbersIn(words).filter(({ number }) => own.includes(number))
  if (numbers.length === 0) return true
  const form = labelFormOf(texts, list.context)
  if (!form || speaker === 'unknown') return false
  const others = new Set(lists.filter((other) => other !== list).flatMap(({ context }) => placeLabels(context, texts)))
  // neither the number nor the label that it is sent as may mean another list
  const toSent = (number: string): string => own[list.moved!.order.indexOf(own.indexOf(number))]!
  if (numbers.some(({ number }) => others.has(number) || others.has(toSent(number)))) return false
  const cited = findCitations(words, form, own)
  return numbers.every(({ at }) => cited.some(({ start, end }) => start <= at && at < end))
}

/** Returns whether a text speaks of blocks, or of anything else, by place: `the second document`, `the last`. */
function countsBlocks(words: string): boolean {
  const { isCounted, isPartCounted, countedWords } = readRemarks(words)
  return isCounted || isPartCounted || countedWords.size > 0
}

function numbersIn(words: string): { number: string; at: number }[] {
  // every digit is one UTF-16 unit, or it is none of a label
  const text = toAsciiDigits(words)
  return [...text.matchAll(/\d+/g)].map(({ 0: number, index }) => ({ number, at: index }))
}
