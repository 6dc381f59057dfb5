import type { Span } from '../../../common/json/json-spans.ts'
import { type BlockSpan, type ContextList, toList } from '../../context-list.ts'
import { type Front, haveTexts, judgeResults, SHORTEST_TEXT, type Situation } from '../../judge/judge-results.ts'
import { readAnnouncement, readHeading } from '../../judge/read-evidence.ts'
import type { Reason, Refusal } from '../../judge/reasons.ts'
import { readCue } from '../../scan/find-cue-line.ts'
import { findContentEnd, findContentStart, findLineEnd } from '../../scan/find-edges.ts'
import { findOwn, type Region, readOutsideFences } from '../../scan/find-elements.ts'
import { type JsonElement, type JsonValue, readJsonValue } from '../../scan/find-json-value.ts'
import type { Marks } from '../../scan/find-marks.ts'
import { idNames, isRankingField, partWords, plainId } from '../../scan/words/field-names.ts'
import { isSorted, namesPlaces } from '../../scan/words/tool-kind.ts'

// names of such lists; `anyOf` in a schema and `scripts` in a manifest also contain descriptions
const LIST_NAMES =
  /^(?:.*_)?(?:results?|documents?|docs|contexts?|passages?|sources?|references|chunks?|excerpts?|snippets?|memories|content|contents|hits|matches|items|records|articles|entries|pages|data|organic|web|news|nodes|observations?|value|values|output)$/i
const LABEL_NAMES = [...idNames, 'document', 'doc', 'source_id']

// more lines of JSON than this are a log
const MOST_LISTS = 1_000
const MOST_AROUND = 500

// classifiers have results too
const OF_ANYTHING = /(?<!search )\bresults?\b/i

/** What was found in the JSON of a region: lists, and text that is left alone. */
interface JsonLists {
  readonly lists: readonly ContextList[]
  readonly refusals: readonly Refusal[]
}

/** Finds lists of results in a region's JSON, outside code: `[{"title":…,"content":…},…]`. */
export function findJsonLists(marks: Marks, region: Region): JsonLists {
  const values = findOwn(marks.values, region)
  const lists: ContextList[] = []
  const refusals: Refusal[] = []
  if (values.length === 0) return { lists, refusals }
  const hasMany = (): boolean => lists.length + refusals.length > MOST_LISTS
  readOutsideFences(marks, region, values, ({ start }) => {
    if (hasMany()) return region.end
    const value = readJsonValue(marks.text, start)
    const list = readList(marks, region, start, value)
    if (typeof list === 'string') refusals.push({ refused: list, at: { start, end: value.end } })
    else if (list !== undefined) lists.push(list)
    // if one attempt stops, the next begins there, so that no character is read twice
    return value.end
  })
  return { lists: hasMany() ? [] : lists, refusals }
}

const SILENT: Front = { isAnnounced: false, isSet: false }

/** Returns whether an element may contain text. Numbers, as in `[1]`, do not. */
function mayHoldText(text: string, { start }: JsonElement): boolean {
  return text[start] === '{' || text[start] === '"'
}

/** Returns the list in a JSON value, or why it is left alone. */
function readList(
  marks: Marks,
  region: Region,
  start: number,
  { end, arrays }: JsonValue,
): ContextList | Reason | undefined {
  const { text } = marks
  if (end > region.end || !arrays.some(({ elements }) => elements.some((element) => mayHoldText(text, element))))
    return undefined
  // if more text follows on the line, it is code or prose that looks like JSON
  if (
    findContentStart(text, end, findLineEnd(text, end)) < findLineEnd(text, end) &&
    !'<"\'`'.includes(text[end] ?? ' ')
  )
    return undefined
  const named = arrays
    .map(({ name, elements }) => ({ name: name && partWords(name), elements }))
    .filter(({ name }) => name === undefined || name === '' || LIST_NAMES.test(name))
  const situation: Situation = {
    ...readFront(text, start),
    isHeld: region.isKin,
    isSearched: marks.source === 'search',
    isUnnamedTool: marks.whole && marks.source === undefined,
    isAsked: readCue(text, findContentStart(text, end, text.length))?.question === true,
    isNamedTool: marks.source === 'other',
  }
  const isStrings = (situation.isAnnounced || situation.isSearched) && text[start] === '['
  const judged = named
    .filter(({ name, elements }) => haveTexts(text, elements, name, situation))
    .map(({ name, elements }) => ({ elements, reason: judgeResults(text, elements, name, situation) }))
  const taken = judged.filter(({ reason }) => reason === undefined)
  const strings = isStrings ? named.filter(({ elements }) => isTexts(text, elements)) : []
  const [largest] = [...taken, ...strings].map(({ elements }) => elements).sort((a, b) => lengthOf(b) - lengthOf(a))
  if (largest === undefined) return judged[0]?.reason
  if (placesMatterAround(text, start, end, arrays)) return 'ordered_fields'
  return arePaired(arrays, largest) ? 'named' : toElementList(text, largest, end)
}

/** Returns whether another list of a value has as many members, each of which belongs by its place to one of these. */
function arePaired(arrays: JsonValue['arrays'], texts: readonly JsonElement[]): boolean {
  const [from, to] = [texts[0]!.start, texts.at(-1)!.end]
  const { name } = arrays.find(({ elements }) => elements === texts)!
  return arrays.some(
    (other) =>
      other.name !== name &&
      other.elements.length === texts.length &&
      (other.elements.at(-1)!.end <= from || other.elements[0]!.start >= to),
  )
}

/** Returns whether members before or after the arrays of a value say how it is sorted, or name one by its place. */
function placesMatterAround(text: string, start: number, end: number, arrays: JsonValue['arrays']): boolean {
  const from = Math.min(...arrays.map(({ elements }) => elements[0]!.start))
  const to = Math.max(...arrays.map(({ elements }) => elements.at(-1)!.end))
  const front = text.slice(start, Math.min(from, start + MOST_AROUND))
  const behind = text.slice(to, Math.min(end, to + MOST_AROUND))
  return [front, behind].some((around) => isSorted(around) || namesPlaces(around))
}

function toElementList(text: string, elements: readonly JsonElement[], end: number): ContextList {
  const labels = findLabels(text, elements)
  const blocks = elements.map(({ start, end, members }, i): BlockSpan => {
    const ranks = rankNames(text, members, labels?.[i])
    const span = { start, end, contentStart: start, contentEnd: end }
    const block = labels === undefined ? span : { label: labels[i]!, ...span }
    return ranks.length === 0 ? block : { ranks, ...block }
  })
  return toList(text, blocks, 'json', 'strong', end)
}

/** Returns the names of an object's fields that only rank it, also within other fields. */
function rankNames(text: string, members: JsonElement['members'], label: Span | undefined): string[] {
  return [...(members ?? [])].flatMap(([name, { start, end, members: inner }]) => {
    const isLabel = label !== undefined && label.start >= start && label.end <= end
    return isRankingField(name, text.slice(start, end)) && !isLabel ? [name] : rankNames(text, inner, label)
  })
}

function lengthOf(elements: readonly JsonElement[]): number {
  return elements.at(-1)!.end - elements[0]!.start
}

/** Reads whether the line before `start` announces retrieved text. Otherwise it could be anything. */
function readFront(text: string, start: number): Front {
  const end = findContentEnd(text, Math.max(start - 16, 0), start)
  // this value directly follows another, as in lines of JSON
  if (text[end - 1] === '}' || text[end - 1] === ']') {
    if (!/^(?:\[{1,2}[^[{"]|#)/.test(text.slice(text.lastIndexOf('\n', end - 1) + 1, end))) return SILENT
  }
  const heading = readHeading(text, start)
  if (heading.length === 0 || '.?!'.includes(heading.at(-1)!)) return SILENT
  const { announcesText, announcesSet } = readAnnouncement(text, start)
  return { isAnnounced: announcesText || announcesSet, isSet: announcesSet && !OF_ANYTHING.test(heading) }
}

function isTexts(text: string, elements: readonly JsonElement[]): boolean {
  return elements.every(({ start, end }) => text[start] === '"' && end - start - 2 >= SHORTEST_TEXT)
}

/** Returns the spans of the numbers or plain names that identify the elements, if all have the same member for it. */
function findLabels(text: string, elements: readonly JsonElement[]): Span[] | undefined {
  const first = [...(elements[0]?.members?.keys() ?? [])]
  for (const known of LABEL_NAMES) {
    // `SourceId`, but not `ID`, which is a key of a database
    const name = first.find((own) => own === known || (own.length > 2 && partWords(own).toLowerCase() === known))
    if (name === undefined) continue
    const labels = elements.map(({ members }) => toLabel(text, members?.get(name)))
    if (!labels.every((label) => label !== undefined)) continue
    const values = labels.map(({ start, end }) => text.slice(start, end))
    if (new Set(values).size === values.length) return labels
  }
  return undefined
}

function toLabel(text: string, member: JsonElement | undefined): Span | undefined {
  if (member === undefined) return undefined
  const quoted = text[member.start] === '"' ? 1 : 0
  const label = { start: member.start + quoted, end: member.end - quoted }
  return label.end - label.start <= 64 && plainId.test(text.slice(label.start, label.end)) ? label : undefined
}
