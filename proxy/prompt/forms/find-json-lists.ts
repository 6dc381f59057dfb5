import type { Span } from '../../json-spans.ts'
import type { BlockSpan, ContextList } from '../judge/context-list.ts'
import { readAnnouncement } from '../judge/read-evidence.ts'
import type { Reason, Refusal } from '../judge/reasons.ts'
import { tellsOrder } from '../judge/tells-order.ts'
import { readCue } from '../scan/find-cue-line.ts'
import { findContentEnd, findContentStart, findLineEnd } from '../scan/find-edges.ts'
import type { Region } from '../scan/find-elements.ts'
import { FenceWalk } from '../scan/find-fences.ts'
import { type JsonElement, type JsonMember, type JsonValue, readJsonValue } from '../scan/find-json-value.ts'
import { isRunning } from '../scan/find-labels.ts'
import type { Marks } from '../scan/find-marks.ts'
import { findRankMembers } from '../scan/find-rank-fields.ts'
import { datedField, orderedField, toFieldName } from '../scan/ordered-fields.ts'
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

// fields that nothing but what was searched for has
const RANKED =
  /^(?:_?score|(?:[a-z]+_)?scores?|similarity|distance|relevance|relevance_score|rerank_score|certainty|_distance|@search\.score)$/i
const NUMBERED = /^(?:document|doc)$/i
const PAGE_CONTENT = /^page_?content$/i
const RETRIEVED = /^(?:page_?content|raw_content|snippet|passage|excerpt|highlights?|memory)$/i
// where a text comes from
const ORIGIN =
  /^(?:url|uri|link|href|source|file|filename|file_name|file_path|path|doc_id|document_id|source_id|source_url|docid|document|doc|title)$/i

// a result under a known name may be short, as memories are, and of any length where something says that it is one;
// under any other name it is a record of something else
const SHORTEST_TEXT = 16
const SHORTEST_OTHER_TEXT = 80

// lines of JSON in numbers like these are a log
const MOST_LISTS = 1_000

const QUOTE = 34
const OPEN_BRACKET = 91
const MATERIAL = new RegExp(materialWords, 'iu')

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
  }
  return lists.length > MOST_LISTS ? { lists: [], refusals } : { lists, refusals }
}

/** What stands around a value says this of it. */
interface Situation {
  /** the line in front announces retrieved text */
  readonly isAnnounced: boolean
  /** a container of such text holds it */
  readonly isHeld: boolean
  readonly isSearched: boolean
  readonly isAsked: boolean
  /** a tool said it, and nobody knows which */
  readonly isUnnamedTool: boolean
}

/** The list at `start`, if there is one, and where reading goes on. */
function readValue(
  marks: Marks,
  region: Region,
  start: number,
  fenceEnd: number | undefined,
): { readonly at: number; readonly list?: ContextList | Reason | undefined } {
  const value = readJsonValue(marks.text, start)
  // where one attempt broke off the next one may begin, so that no character is read twice
  if (typeof value === 'number') return { at: fenceEnd ?? value }
  return { at: fenceEnd ?? value.end, list: readList(marks, region, start, value, fenceEnd) }
}

/** Whether an array is the first thing in fenced code that is JSON, or of no language. */
function isFencedAlone(text: string, start: number): boolean {
  if (text.charCodeAt(start) !== OPEN_BRACKET) return false
  const fence = findContentEnd(text, Math.max(start - 200, 0), start)
  return /(?:^|\n)[ \t]*(?:`{3,}|~{3,})(?:json)?$/i.test(text.slice(Math.max(fence - 24, 0), fence))
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
  // fenced, it is what an example looks like, too
  if (fenceEnd !== undefined && !(isAnnounced(text, start) && isFence(text, end, fenceEnd))) return undefined
  // code and prose go on behind what looks like JSON
  if (findContentStart(text, end, findLineEnd(text, end)) < findLineEnd(text, end) && !/[<"'`]/.test(text[end] ?? ''))
    return undefined
  const situation: Situation = {
    isAnnounced: isAnnounced(text, start),
    isHeld: region.isKin,
    isSearched: marks.source === 'search',
    isAsked: readCue(text, findContentStart(text, end, text.length))?.question === true,
    isUnnamedTool: marks.whole && marks.source === undefined,
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

function judgeList(
  text: string,
  elements: readonly JsonElement[],
  name: string | undefined,
  situation: Situation,
): Reason | undefined {
  const refused = judgeElements(elements, name, situation)
  return refused ?? (tellsOrder(text, elements.map(toTextSpan)) ? 'ordered_texts' : undefined)
}

/**
 * Why these elements, which hold texts, are left alone: retrieved texts are announced as such, searched for by a tool or
 * listed under a name for them, or bear scores; and say where they come from. What bears dates or pages besides needs
 * more of it, and what is numbered or said by somebody has an order.
 */
function judgeElements(
  elements: readonly JsonElement[],
  name: string | undefined,
  { isAnnounced, isHeld, isSearched, isAsked, isUnnamedTool }: Situation,
): Reason | undefined {
  if (elements.some((element) => hasField(element, orderedField))) return 'ordered_fields'
  const list = (name ?? '').toLowerCase()
  const isStrong = strongLists.has(list) || [...strongLists].some((noun) => list.endsWith(`_${noun}`))
  const isPlaced = isAnnounced || isHeld
  const places = countTrue(isPlaced, isSearched, isStrong, isAsked && name === undefined)
  const own = countFields(elements)
  if (elements.some((element) => hasField(element, datedField))) {
    return places + own >= 3 && places > 0 && own > 0 ? undefined : 'ordered_fields'
  }
  if (elements.every((element) => hasField(element, RANKED) || hasField(element, PAGE_CONTENT))) return undefined
  const isNeutral = list === 'results' || list === 'chunks' || isUnnamedTool
  const isEnough = places > 0 ? own > 0 || places > 1 || isStrong || isPlaced : isNeutral && own > 0
  return isEnough ? undefined : 'no_evidence'
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

/** How many kinds of fields all of these have that texts which were searched for have. */
function countFields(elements: readonly JsonElement[]): number {
  const kinds = [RANKED, RETRIEVED, NUMBERED, ORIGIN]
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
  const least = names.some((name) => RETRIEVED.test(name) || RANKED.test(name)) ? 1 : shortest
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

/** Whether the line in front says that what follows is retrieved text: it could be anything else. */
function isAnnounced(text: string, start: number): boolean {
  const end = findContentEnd(text, Math.max(start - 16, 0), start)
  // one value behind another, as in lines of JSON
  if (text[end - 1] === '}' || text[end - 1] === ']') {
    if (!/^\[{1,2}|^#/.test(text.slice(text.lastIndexOf('\n', end - 1) + 1, end))) return false
  }
  const { heading, announcesText, announcesSet } = readAnnouncement(text, start)
  return (announcesText || announcesSet) && heading.length > 0 && !/[.?!]$/.test(heading)
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
