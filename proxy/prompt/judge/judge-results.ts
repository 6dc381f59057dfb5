import { areNumberedNames } from '../order/numbered-names.ts'
import { areInOrder } from '../order/order-key.ts'
import { tellsOrder } from '../order/tells-order.ts'
import type { JsonElement, JsonMember } from '../scan/find-json-value.ts'
import { datedField, orderedField, toFieldName } from '../scan/words/ordered-fields.ts'
import { materialWords, strongLists } from '../scan/words/vocabulary.ts'
import type { BlockSpan } from './context-list.ts'
import type { Reason } from './reasons.ts'

// what results call their text, and the attributes that number them
const TEXT_NAMES =
  /^(?:page_?content|raw_content|content|contents|text|snippet|body|summary|description|passage|document|chunk|chunk_text|memory|excerpt|abstract|highlight|answer)$/i
// a score that says how well a text fits a question; `score` alone is what players, reviews and lines of a scan have, too
const RANKED =
  /^(?:_score|similarity|(?:relevance|relevancy|rerank|reranker|reranking|retrieval|search|similarity|vector|bm25|hybrid|semantic|fusion|rrf|dense|sparse|cosine)_?scores?|cosine_similarity|certainty|_distance|@search\.(?:reranker_?)?score)$/i
const SCORED = /^(?:scores?|distance|relevance|relevancy|rank)$/i
const NUMBERED = /^(?:document|doc)$/i
const PAGE_CONTENT = /^page_?content$/i
const RETRIEVED = /^(?:page_?content|raw_content|snippet|passage|excerpt|highlights?|memory)$/i
// where a text comes from
const ORIGIN =
  /^(?:url|uri|link|href|source|file|filename|file_name|file_path|path|doc_id|document_id|source_id|source_url|docid|document|doc)$/i
const DATED = /^(?:.*_)?(?:date|datetime|timestamp|created|updated|published|modified)(?:_?at|_?time|_?on)?$/i
const TITLED = /^(?:title|name|headline)$/i

// what databases hold the fields of a result in
const HOLDING = /^(?:metadata|payload|fields|_source|document|doc|node|entity|chunk|properties|attributes)$/i

// a result under a known name may be short, as memories are, and of any length where something says that it is one;
// under any other name it is a record of something else
export const SHORTEST_TEXT = 16
// `{"[doc1]": {"content": …}}`: the only member of each object is called by its place
const CALLED = /^\[?(?:document|doc|source|passage|chunk|context|reference|result|snippet)[ _-]?\d{1,4}\]?$/i
const SHORTEST_OTHER_TEXT = 80
const SHORTEST_RANKED_TEXT = 40

const LONGEST_NAME = 100

const QUOTE = 34
const MATERIAL = new RegExp(materialWords, 'iu')

/** What the line in front of a value says of it. */
export interface Front {
  /** it announces retrieved text */
  readonly isAnnounced: boolean
  /** it announces several texts, by more than `results` */
  readonly isSet: boolean
}

/** What stands around a value says this of it. */
export interface Situation extends Front {
  /** a container of such text holds it */
  readonly isHeld: boolean
  readonly isSearched: boolean
  readonly isAsked: boolean
  /** a tool said it, and nobody knows which */
  readonly isUnnamedTool: boolean
  /** a tool said it whose name does not say that it searches */
  readonly isNamedTool: boolean
  /** what stands around the list says how it is sorted */
  readonly isSorted: boolean
}

/** Why objects of JSON that hold texts are left alone; undefined: they are search results. */
export function judgeResults(
  text: string,
  elements: readonly JsonElement[],
  name: string | undefined,
  situation: Situation,
): Reason | undefined {
  const refused = judgeElements(
    elements.map((element) => namesOf(text, element)),
    name,
    situation,
  )
  if (refused !== undefined) return refused
  const isInOrder =
    isNestedInOrder(text, elements) ||
    tellsOrder(text, elements.map(toTextSpan)) ||
    areNumberedNames(elements.map((one) => nameOf(text, one)))
  return isInOrder ? 'ordered_texts' : undefined
}

/** Whether dates in the metadata of objects rise or fall through them. */
function isNestedInOrder(text: string, elements: readonly JsonElement[]): boolean {
  const values = elements.map(({ members }) => {
    const nested = [...members!.values()].flatMap((member) => [...(member.members ?? [])])
    const own = nested.find(([name]) => DATED.test(name))?.[1]
    return own === undefined
      ? ''
      : text.slice(own.start, Math.min(own.end, own.start + LONGEST_NAME)).replaceAll('"', '')
  })
  return !values.includes('') && areInOrder(values)
}

/** What an object says of where its text is from. */
function nameOf(text: string, { members }: JsonElement): string {
  const names = [...members!].filter(([name]) => ORIGIN.test(name) || TITLED.test(name))
  return names
    .map(([name, { start, end }]) => `${name}:${text.slice(start, Math.min(end, start + LONGEST_NAME))}`)
    .join()
}

/**
 * Why these elements, which hold texts, are left alone: retrieved texts are announced as such, searched for by a tool or
 * listed under a name for them, or bear scores; and say where they come from. What bears dates or pages besides needs
 * more of it, and what is numbered or said by somebody has an order.
 */
function judgeElements(elements: readonly Names[], name: string | undefined, situation: Situation): Reason | undefined {
  if (situation.isSorted || elements.some((element) => hasField(element, orderedField))) return 'ordered_fields'
  const own = countKinds(elements, [RANKED, RETRIEVED, NUMBERED, ORIGIN])
  const scored = countKinds(elements, [SCORED])
  const seen = {
    places: countPlaces(isNameSaying(own + scored, situation) ? name : undefined, situation),
    own,
    titled: countKinds(elements, [TITLED]),
    scored,
  }
  if (elements.some((element) => hasField(element, datedField))) {
    const all = seen.own + seen.titled + (seen.own > 0 ? 0 : seen.scored)
    return seen.places + all >= 3 && seen.places > 0 && all > 0 ? undefined : 'ordered_fields'
  }
  if (elements.every((element) => hasField(element, RANKED) || hasField(element, PAGE_CONTENT))) return undefined
  return isEnough(seen, name, situation) ? undefined : 'no_evidence'
}

/** What speaks for a list of objects: places that say so, and kinds of fields that all of them have. */
interface Seen {
  readonly places: number
  /** fields that retrieved texts have */
  readonly own: number
  readonly titled: number
  readonly scored: number
}

/** Whether the name of a list says something of it: in what a user writes, `articles` are any, unless each has a source or a score. */
function isNameSaying(
  own: number,
  { isSearched, isUnnamedTool, isNamedTool, isAnnounced, isHeld, isAsked }: Situation,
): boolean {
  return own > 0 || isSearched || isUnnamedTool || isNamedTool || isAnnounced || isHeld || isAsked
}

function countPlaces(name: string | undefined, { isAnnounced, isHeld, isSearched, isAsked }: Situation): number {
  return countTrue(isAnnounced || isHeld, isSearched, isStrongName(name), isAsked && name === undefined)
}

function isStrongName(name = ''): boolean {
  const list = name.toLowerCase()
  return strongLists.has(list) || [...strongLists].some((noun) => list.endsWith(`_${noun}`))
}

// what a text is divided into, unless each says where it is from
const PARTS = /^(?:pages|sections|paragraphs|slides|chapters|parts|segments|blocks)$/i

function isEnough({ places, own, titled, scored }: Seen, name: string | undefined, situation: Situation): boolean {
  const { isAnnounced, isHeld, isSearched, isUnnamedTool, isNamedTool } = situation
  if (PARTS.test(name ?? '') && own === 0) return false
  if (places === 0) {
    // a source and a score together are of a search, whatever the list is called
    const isNeutral = /^(?:results|chunks)$/i.test(name ?? '') || isUnnamedTool || (scored > 0 && !isNamedTool)
    return isNeutral && own > 0 && (!isNamedTool || own + scored > 1)
  }
  const isSaid = isHeld || isStrongName(name) || situation.isSet
  // a score without a source says how well a text fits only where a place says so
  if (own === 0 && scored > 0) return isSearched || isSaid
  return own > 0 || places > 1 || isSaid || isAnnounced || titled > 0
}

/** The names of an object's fields. */
type Names = readonly string[]

function hasField(names: Names, pattern: RegExp): boolean {
  return names.some((name) => pattern.test(name) || pattern.test(toFieldName(name)))
}

/** These names, and those of the document that its text holds as JSON, where it holds nothing else but its type. */
function namesOf(text: string, { members }: JsonElement): Names {
  const names = [...members!.keys()]
  const own = members!.get('text')
  const isWrapped = own !== undefined && names.every((name) => name === 'text' || name === 'type')
  return isWrapped ? [...names, ...namesInString(text.slice(own.start, own.end))] : names
}

function namesInString(written: string): Names {
  if (!/^"\s*\{/.test(written)) return []
  try {
    const value: unknown = JSON.parse(JSON.parse(written) as string)
    if (typeof value !== 'object' || value === null) return []
    // in what is known of the document, what gives it a place among others counts as its own
    const known = Object.values(value).flatMap((inner) => Object.keys(inner ?? {}))
    return [...Object.keys(value), ...known.filter((name) => datedField.test(name) || orderedField.test(name))]
  } catch {
    return []
  }
}

/** Where the text of a result stands, without its quotes. */
function toTextSpan({ start, end, members }: JsonElement): BlockSpan {
  const [, own] = [...(members ?? [])].find(([name]) => TEXT_NAMES.test(name)) ?? []
  const [contentStart, contentEnd] = own ? [own.start + 1, own.end - 1] : [start, end]
  return { start, end, contentStart, contentEnd }
}

/** How many of these kinds of fields all elements have. */
function countKinds(elements: readonly Names[], kinds: readonly RegExp[]): number {
  return kinds.filter((kind) => elements.every((element) => hasField(element, kind))).length
}

function countTrue(...values: readonly boolean[]): number {
  return values.filter(Boolean).length
}

/** Whether each of these is an object with a text. */
export function haveTexts(
  text: string,
  elements: readonly JsonElement[],
  name: string | undefined,
  { isAnnounced, isHeld, isAsked }: Situation,
): boolean {
  const isKnown = isAnnounced || isHeld || isAsked || MATERIAL.test(name ?? '')
  return elements.every(({ members }) => members !== undefined && hasText(text, members, isKnown ? 1 : SHORTEST_TEXT))
}

function hasText(text: string, members: ReadonlyMap<string, JsonMember>, shortest: number): boolean {
  const names = [...members.keys()]
  const least = names.some((name) => RETRIEVED.test(name) || RANKED.test(name) || SCORED.test(name)) ? 1 : shortest
  const shortestOther = names.some((name) => RANKED.test(name)) ? SHORTEST_RANKED_TEXT : SHORTEST_OTHER_TEXT
  return names.some((name) => {
    const { start, end, members: inner } = members.get(name)!
    if (inner !== undefined)
      return (HOLDING.test(name) || CALLED.test(name)) && hasText(text, inner, Math.max(shortest, SHORTEST_TEXT))
    const length = text.charCodeAt(start) === QUOTE ? end - start - 2 : 0
    return length >= (TEXT_NAMES.test(name) ? least : shortestOther)
  })
}
