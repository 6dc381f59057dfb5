import type { Span } from '../../json-spans.ts'
import type { BlockSpan, ContextList } from '../judge/context-list.ts'
import { readAnnouncement } from '../judge/read-evidence.ts'
import type { Reason, Refusal } from '../judge/reasons.ts'
import { areNumberedNames } from '../order/numbered-names.ts'
import { areInOrder } from '../order/order-key.ts'
import { tellsOrder } from '../order/tells-order.ts'
import { readCue } from '../scan/find-cue-line.ts'
import { findContentEnd, findContentStart, findLineEnd } from '../scan/find-edges.ts'
import type { Region } from '../scan/find-elements.ts'
import { FenceWalk } from '../scan/find-fences.ts'
import {
  type JsonElement,
  type JsonMember,
  type JsonValue,
  readJsonLines,
  readJsonValue,
} from '../scan/find-json-value.ts'
import { isRunning } from '../scan/find-labels.ts'
import type { Marks } from '../scan/find-marks.ts'
import { findRankMembers } from '../scan/find-rank-fields.ts'
import { datedField, orderedField, toFieldName } from '../scan/ordered-fields.ts'
import { isSorted } from '../scan/tool-kind.ts'
import { materialWords, strongLists } from '../scan/vocabulary.ts'
import { findOwn } from './find-own.ts'

// what results call their text, and the attributes that number them
const TEXT_NAMES =
  /^(?:page_?content|raw_content|content|contents|text|snippet|body|summary|description|passage|document|chunk|chunk_text|memory|excerpt|abstract|highlight|answer)$/i
// what they call their list: `anyOf` in a schema and `scripts` in a manifest hold descriptions too
const LIST_NAMES =
  /^(?:.*_)?(?:results?|documents?|docs|contexts?|passages?|sources?|references|chunks?|excerpts?|snippets?|memories|content|contents|hits|matches|items|records|articles|entries|pages|data|organic|web|news|nodes|observations?|value|values|output)$/i
const LABEL_NAMES = ['index', 'id', 'number', 'n', 'position', 'rank', 'doc_id', 'document', 'doc', 'source_id']
const PLAIN_VALUE = /^[\p{L}\p{N}_.:/#-]{1,64}$/u

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

// a result under a known name may be short, as memories are, and of any length where something says that it is one;
// under any other name it is a record of something else
const SHORTEST_TEXT = 16
const SHORTEST_OTHER_TEXT = 80

// lines of JSON in numbers like these are a log
const MOST_LISTS = 1_000
const MOST_AROUND = 500
const LONGEST_NAME = 100

const QUOTE = 34
const OPEN_BRACKET = 91
const MATERIAL = new RegExp(materialWords, 'iu')
// classifiers have results, too
const OF_ANYTHING = /(?<!search )\bresults?\b/i

/** What was seen of JSON in a region: lists, and what is left alone. */
export interface JsonLists {
  readonly lists: readonly ContextList[]
  readonly refusals: readonly Refusal[]
}

/** The lists of results that stand as JSON in a region, outside of code: `[{"title":…,"content":…},…]`. */
export function findJsonLists(marks: Marks, region: Region): JsonLists {
  const { text } = marks
  const values = findOwn(marks.values, region)
  const lists: ContextList[] = []
  const refusals: Refusal[] = []
  if (values.length === 0) return { lists, refusals }
  const fences = new FenceWalk(findOwn(marks.fences, region), region.start)
  let at = region.start
  for (const { start } of values) {
    if (start < at) continue
    at = fences.pass(at, start, region.end)
    const fenceEnd = at > start ? at : undefined
    if (fenceEnd !== undefined && !isFencedAlone(text, start)) continue
    const read = readValue(marks, region, start, fenceEnd)
    at = read.at
    if (typeof read.list === 'string') refusals.push({ refused: read.list, at: { start, end: at } })
    else if (read.list !== undefined) lists.push(read.list)
    if (lists.length + refusals.length > MOST_LISTS) return { lists: [], refusals }
  }
  return { lists, refusals }
}

/** What the line in front of a value says of it. */
interface Front {
  /** it announces retrieved text */
  readonly isAnnounced: boolean
  /** it announces several texts, by more than `results` */
  readonly isSet: boolean
}

const SILENT: Front = { isAnnounced: false, isSet: false }

/** What stands around a value says this of it. */
interface Situation extends Front {
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

/** The list at `start`, if there is one, and where reading goes on. */
function readValue(
  marks: Marks,
  region: Region,
  start: number,
  fenceEnd: number | undefined,
): { readonly at: number; readonly list?: ContextList | Reason | undefined } {
  // lines of JSON are logs, too: these are announced as documents
  const isLines = isFirstLine(marks.text, start) && readFront(marks.text, start).isSet
  const lines = isLines ? readJsonLines(marks.text, start) : undefined
  const value = lines ?? readJsonValue(marks.text, start)
  // where one attempt broke off the next one may begin, so that no character is read twice
  if (typeof value === 'number') return { at: fenceEnd ?? value }
  return { at: fenceEnd ?? value.end, list: readList(marks, region, start, value, fenceEnd) }
}

/** Whether an array, or a line of several, is the first thing in fenced code that is JSON, or of no language. */
function isFencedAlone(text: string, start: number): boolean {
  if (text.charCodeAt(start) !== OPEN_BRACKET && !isFirstLine(text, start)) return false
  const fence = findContentEnd(text, Math.max(start - 200, 0), start)
  return /(?:^|\n)[ \t]*(?:`{3,}|~{3,})(?:json)?$/i.test(text.slice(Math.max(fence - 24, 0), fence))
}

/** Whether an object ends with its line, and the next one begins below it. */
function isFirstLine(text: string, start: number): boolean {
  const end = findLineEnd(text, start)
  return text[findContentEnd(text, start, end) - 1] === '}' && text[findContentStart(text, end, text.length)] === '{'
}

/** Numbers, as in `[1]`, hold none. */
function mayHoldText(text: string, { start }: JsonElement): boolean {
  const first = text[start]
  return first === '{' || first === '"'
}

/** `fenceEnd` is where the fenced code ends that holds the value and nothing else. */
function readList(
  marks: Marks,
  region: Region,
  start: number,
  { end, arrays }: JsonValue,
  fenceEnd: number | undefined,
): ContextList | Reason | undefined {
  const { text } = marks
  if (end > region.end || !arrays.some(({ elements }) => elements.some((element) => mayHoldText(text, element))))
    return undefined
  const front = readFront(text, start)
  // fenced, it is what an example looks like, too
  if (fenceEnd !== undefined && !(front.isAnnounced && isFence(text, end, fenceEnd))) return undefined
  // code and prose go on behind what looks like JSON
  if (findContentStart(text, end, findLineEnd(text, end)) < findLineEnd(text, end) && !/[<"'`]/.test(text[end] ?? ''))
    return undefined
  const situation: Situation = {
    ...front,
    isHeld: region.isKin,
    isSearched: marks.source === 'search',
    isAsked: readCue(text, findContentStart(text, end, text.length))?.question === true,
    isUnnamedTool: marks.whole && marks.source === undefined,
    isNamedTool: marks.source === 'other',
    isSorted: isSortedAround(text, start, end, arrays),
  }
  const isStrings = situation.isAnnounced && text.charCodeAt(start) === OPEN_BRACKET
  const named = arrays.filter(({ name }) => name === undefined || name === '' || LIST_NAMES.test(name))
  const judged = named
    .filter(({ name, elements }) => haveTexts(text, elements, name, situation))
    .map(({ name, elements }) => ({ elements, reason: judgeList(text, elements, name, situation) }))
  const taken = judged.filter(({ reason }) => reason === undefined).map(({ elements }) => elements)
  const strings = isStrings ? named.map(({ elements }) => elements).filter((texts) => isTexts(text, texts)) : []
  const refused = judged.find(({ reason }) => reason !== undefined)?.reason
  const largest = [...taken, ...strings].reduce<readonly JsonElement[] | undefined>(
    (best, elements) => (best === undefined || lengthOf(elements) > lengthOf(best) ? elements : best),
    undefined,
  )
  return largest === undefined ? refused : toList(text, largest, fenceEnd ?? end)
}

/** Whether members in front of the largest array of a value, or behind it, say how it is sorted. */
function isSortedAround(text: string, start: number, end: number, arrays: JsonValue['arrays']): boolean {
  const spans = arrays.map(({ elements }) => ({ from: elements[0]!.start, to: elements.at(-1)!.end }))
  const from = Math.min(...spans.map((span) => span.from))
  const to = Math.max(...spans.map((span) => span.to))
  return (
    isSorted(text.slice(start, Math.min(from, start + MOST_AROUND))) ||
    isSorted(text.slice(to, Math.min(end, to + MOST_AROUND)))
  )
}

function judgeList(
  text: string,
  elements: readonly JsonElement[],
  name: string | undefined,
  situation: Situation,
): Reason | undefined {
  const refused = judgeElements(elements, name, situation)
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
function judgeElements(
  elements: readonly JsonElement[],
  name: string | undefined,
  situation: Situation,
): Reason | undefined {
  if (situation.isSorted || elements.some((element) => hasField(element, orderedField))) return 'ordered_fields'
  const seen = {
    places: countPlaces(name, situation),
    own: countKinds(elements, [RANKED, RETRIEVED, NUMBERED, ORIGIN]),
    titled: countKinds(elements, [TITLED]),
    scored: countKinds(elements, [SCORED]),
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

function countPlaces(name: string | undefined, { isAnnounced, isHeld, isSearched, isAsked }: Situation): number {
  return countTrue(isAnnounced || isHeld, isSearched, isStrongName(name), isAsked && name === undefined)
}

function isStrongName(name = ''): boolean {
  const list = name.toLowerCase()
  return strongLists.has(list) || [...strongLists].some((noun) => list.endsWith(`_${noun}`))
}

function isEnough({ places, own, titled, scored }: Seen, name: string | undefined, situation: Situation): boolean {
  const { isAnnounced, isHeld, isSearched, isUnnamedTool, isNamedTool } = situation
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

function hasField({ members }: JsonElement, pattern: RegExp): boolean {
  for (const key of members!.keys()) if (pattern.test(key) || pattern.test(toFieldName(key))) return true
  return false
}

/** Where the text of a result stands, without its quotes. */
function toTextSpan({ start, end, members }: JsonElement): BlockSpan {
  const [, own] = [...(members ?? [])].find(([name]) => TEXT_NAMES.test(name)) ?? []
  const [contentStart, contentEnd] = own ? [own.start + 1, own.end - 1] : [start, end]
  return { start, end, contentStart, contentEnd }
}

/** How many of these kinds of fields all elements have. */
function countKinds(elements: readonly JsonElement[], kinds: readonly RegExp[]): number {
  return kinds.filter((kind) => elements.every((element) => hasField(element, kind))).length
}

function countTrue(...values: readonly boolean[]): number {
  return values.filter(Boolean).length
}

function haveTexts(
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
  return names.some((name) => {
    const { start, end } = members.get(name)!
    const length = text.charCodeAt(start) === QUOTE ? end - start - 2 : 0
    return length >= (TEXT_NAMES.test(name) ? least : SHORTEST_OTHER_TEXT)
  })
}

/** Whether nothing but a fence stands between these. */
function isFence(text: string, from: number, to: number): boolean {
  return to - from <= 100 && /^\s*(?:`{3,}|~{3,})\s*$/.test(text.slice(from, to))
}

function toList(text: string, elements: readonly JsonElement[], end: number): ContextList {
  const labels = findLabels(text, elements)
  const blocks = elements.map(({ start, end, members }, i): BlockSpan => {
    const ranks = members === undefined ? [] : findRankMembers(text, members, labels?.[i])
    const span = { start, end, contentStart: start, contentEnd: end }
    const block = labels === undefined ? span : { label: labels[i]!, ...span }
    return ranks.length === 0 ? block : { ranks, ...block }
  })
  const positional = isRunning(blocks.map(({ label }) => label && text.slice(label.start, label.end)))
  return { blocks, positional, labelPrefix: '', form: 'json', weight: 'strong', end }
}

function lengthOf(elements: readonly JsonElement[]): number {
  return elements.at(-1)!.end - elements[0]!.start
}

/** Reads whether the line in front says that what follows is retrieved text: it could be anything else. */
function readFront(text: string, start: number): Front {
  const end = findContentEnd(text, Math.max(start - 16, 0), start)
  // one value behind another, as in lines of JSON
  if (text[end - 1] === '}' || text[end - 1] === ']') {
    if (!/^(?:\[{1,2}[^[{"]|#)/.test(text.slice(text.lastIndexOf('\n', end - 1) + 1, end))) return SILENT
  }
  const { heading, announcesText, announcesSet } = readAnnouncement(text, start)
  if (heading.length === 0 || /[.?!]$/.test(heading)) return SILENT
  return { isAnnounced: announcesText || announcesSet, isSet: announcesSet && !OF_ANYTHING.test(heading) }
}

function isTexts(text: string, elements: readonly JsonElement[]): boolean {
  return elements.every(({ start, end }) => text.charCodeAt(start) === 34 && end - start - 2 >= SHORTEST_TEXT)
}

/** The numbers or plain names by which the elements are told apart, if all have the same member for it. */
function findLabels(text: string, elements: readonly JsonElement[]): Span[] | undefined {
  for (const name of LABEL_NAMES) {
    const labels = elements.map(({ members }) => toLabel(text, members?.get(name)))
    if (!labels.every((label) => label !== undefined)) continue
    const values = labels.map(({ start, end }) => text.slice(start, end))
    if (new Set(values).size === values.length) return labels
  }
  return undefined
}

function toLabel(text: string, member: JsonMember | undefined): Span | undefined {
  if (member === undefined) return undefined
  const quoted = text.charCodeAt(member.start) === 34 ? 1 : 0
  const label = { start: member.start + quoted, end: member.end - quoted }
  return label.end - label.start <= 64 && PLAIN_VALUE.test(text.slice(label.start, label.end)) ? label : undefined
}
