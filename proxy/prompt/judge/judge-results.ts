import type { BlockSpan } from '../context-list.ts'
import { areNumberedParts, tellsOrder } from '../order/tells-order.ts'
import type { JsonElement } from '../scan/find-json-value.ts'
import { type FieldTest, isDatedField, isOrderedField, named, rankedBy } from '../scan/words/field-names.ts'
import { materialWords, strongLists } from '../scan/words/vocabulary.ts'
import type { Reason } from './reasons.ts'

// field names for the text of a result
const isText = named(
  'pagecontent rawcontent content contents text snippet body summary description passage document chunk chunktext memory excerpt abstract highlight answer fact',
)
// a score of how well a text fits a question, and a retriever's name for the text; players, reviews and lines of a scan may also have a plain `score`
const isFit = named(
  `pagecontent similarity cosinesimilarity certainty @search.score @search.rerankerscore ${rankedBy.flatMap((by) => [`${by}score`, `${by}scores`]).join(' ')}`,
)
const isRanked: FieldTest = (name) => isFit(name) || name === '_score' || name === '_distance'
const isScored = named('score scores distance relevance relevancy rank')
const isRetrieved = named('pagecontent rawcontent snippet passage excerpt highlight highlights memory')
// origin of a text
const isOrigin = named(
  'url uri link href source file filename filepath path docid documentid sourceid sourceurl document doc',
)
const isTitle = named('title name headline')

// minimum length of text under a known name; memories may be this short, and announced results may be of any length.
// Text under any other name belongs to another kind of record, unless it is longer
export const SHORTEST_TEXT = 16
const SHORTEST_OTHER_TEXT = 80

const LONGEST_NAME = 100
const QUOTE = 34
const MATERIAL = new RegExp(materialWords, 'iu')

/** What the line before a value says about it. */
export interface Front {
  /** it announces retrieved text */
  readonly isAnnounced: boolean
  /** it announces several texts, in words other than `results` */
  readonly isSet: boolean
}

/** What the surroundings of a value say about it. */
export interface Situation extends Front {
  /** inside a container of retrieved texts */
  readonly isHeld: boolean
  readonly isSearched: boolean
  readonly isAsked: boolean
  /** output of an unknown tool */
  readonly isUnnamedTool: boolean
  /** output of a tool whose name does not indicate a search */
  readonly isNamedTool: boolean
}

/**
 * Returns why JSON objects that contain texts are left alone; undefined if they are search results. Retrieved texts must be
 * announced, returned by a search tool or listed under a name for them, and they must state their source. Objects with
 * dates or pages need more evidence. Objects with numbers or speakers have an order.
 */
export function judgeResults(
  text: string,
  elements: readonly JsonElement[],
  name: string | undefined,
  situation: Situation,
): Reason | undefined {
  const fields = elements.map(({ members }) => [...members!.keys()])
  const isAny = (kind: FieldTest): boolean => fields.some((names) => names.some(kind))
  const count = (...kinds: FieldTest[]): number =>
    kinds.filter((kind) => fields.every((names) => names.some(kind))).length
  if (isAny(isOrderedField)) return 'ordered_fields'
  const own = count(isRanked, isRetrieved, isOrigin)
  const seen = { own, scored: count(isScored), titled: count(isTitle) }
  if (isAny(isDatedField)) {
    const places = countPlaces(seen, name, situation)
    if (places === 0 || own + seen.titled === 0 || places + own + seen.titled < 3) return 'ordered_fields'
  } else if (count(isRanked) === 0 && !isEnough(seen, name, situation)) return 'no_evidence'
  const isOrdered =
    tellsOrder(text, elements.map(toTextSpan)) || areNumberedParts(elements.map((one) => nameOf(text, one)))
  return isOrdered ? 'ordered_texts' : undefined
}

/** Returns the fields of an object that name the source of its text. */
function nameOf(text: string, { members }: JsonElement): string {
  const names = [...members!].filter(([name]) => isOrigin(name) || isTitle(name))
  return names
    .map(([name, { start, end }]) => `${name}:${text.slice(start, Math.min(end, start + LONGEST_NAME))}`)
    .join()
}

/** How many kinds of fields all objects of a list have. */
interface Seen {
  /** fields typical of retrieved texts */
  readonly own: number
  readonly scored: number
  readonly titled: number
}

/** Whether the name of a list is evidence: in user text, `articles` may be anything unless each has a source or a score. */
function isNamed({ own, scored }: Seen, name: string | undefined, situation: Situation): boolean {
  const { isAnnounced, isHeld, isSearched, isNamedTool, isAsked } = situation
  const list = name?.toLowerCase() ?? ''
  const isStrong = strongLists.has(list) || [...strongLists].some((noun) => list.endsWith(`_${noun}`))
  return isStrong && (own + scored > 0 || isSearched || isNamedTool || isAnnounced || isHeld || isAsked)
}

/** Counts what around the objects is evidence. */
function countPlaces(seen: Seen, name: string | undefined, situation: Situation): number {
  const { isAnnounced, isHeld, isSearched, isAsked } = situation
  const places = [isAnnounced || isHeld, isSearched, isNamed(seen, name, situation), isAsked && name === undefined]
  return places.filter(Boolean).length
}

function isEnough(seen: Seen, name: string | undefined, situation: Situation): boolean {
  const { isAnnounced, isHeld, isSearched, isSet, isUnnamedTool, isNamedTool } = situation
  const { own, scored, titled } = seen
  const isSaid = isHeld || isSet || isNamed(seen, name, situation)
  // a score without a source shows relevance only if the surroundings say so
  if (own === 0 && scored > 0) return isSearched || isSaid
  const places = countPlaces(seen, name, situation)
  if (places > 0) return own > 0 || places > 1 || isSaid || isAnnounced || titled > 0
  const isNeutral = isUnnamedTool || ['results', 'chunks'].includes(name?.toLowerCase() ?? '')
  // a source and a score together come from a search, whatever the list is called
  return own > 0 && (isNeutral || (scored > 0 && !isNamedTool))
}

/** Returns the span of a result's text, without its quotes. */
function toTextSpan({ start, end, members }: JsonElement): BlockSpan {
  const [, own] = [...(members ?? [])].find(([name]) => isText(name)) ?? []
  const [contentStart, contentEnd] = own ? [own.start + 1, own.end - 1] : [start, end]
  return { start, end, contentStart, contentEnd }
}

/** Returns whether each of these is an object with a text. */
export function haveTexts(
  text: string,
  elements: readonly JsonElement[],
  name: string | undefined,
  { isAnnounced, isHeld, isAsked }: Situation,
): boolean {
  const isKnown = isAnnounced || isHeld || isAsked || MATERIAL.test(name ?? '')
  return elements.every(({ members }) => members !== undefined && hasText(text, members, isKnown ? 1 : SHORTEST_TEXT))
}

function hasText(text: string, members: ReadonlyMap<string, JsonElement>, shortest: number): boolean {
  const names = [...members.keys()]
  const least = names.some((name) => isRetrieved(name) || isRanked(name) || isScored(name)) ? 1 : shortest
  return names.some((name) => {
    const { start, end } = members.get(name)!
    const length = text.charCodeAt(start) === QUOTE ? end - start - 2 : 0
    return length >= (isText(name) ? least : SHORTEST_OTHER_TEXT)
  })
}
