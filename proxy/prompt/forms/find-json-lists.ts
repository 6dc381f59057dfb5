import { readCue } from '../scan/find-cue-line.ts'
import { findContentEnd, findContentStart, findLineEnd } from '../scan/find-edges.ts'
import type { Region } from '../scan/find-elements.ts'
import { FenceWalk } from '../scan/find-fences.ts'
import { type JsonElement, type JsonMember, type JsonValue, readJsonValue } from '../scan/find-json-value.ts'
import { isRunning } from '../scan/find-labels.ts'
import type { Marks } from '../scan/find-marks.ts'
import { findOwn } from '../scan/find-own.ts'
import type { BlockSpan, ContextList } from './context-list.ts'

// what results call their text, and the attributes that number them
const TEXT_NAMES =
  /^(?:page_?content|raw_content|content|contents|text|snippet|body|summary|description|passage|document|chunk|memory|excerpt|abstract|highlight|answer)$/i
// what they call their list: `anyOf` in a schema and `scripts` in a manifest hold descriptions too
const LIST_NAMES =
  /^(?:.*_)?(?:results?|documents?|docs|contexts?|passages?|sources?|references|chunks?|excerpts?|snippets?|memories|content|contents|hits|matches|items|records|articles|entries|pages|data|organic|web|news|nodes|observations?|value|values|output)$/i
const LABEL_NAMES = ['index', 'id', 'number', 'n', 'position', 'rank', 'doc_id']
// lists whose order says something: what was said one after another, what is to be done, what happened
const ORDERED_NAMES = ['role', 'speaker', 'step', 'turn', 'line', 'line_number', 'timestamp', 'time', 'question']
const PLAIN_VALUE = /^[\p{L}\p{N}_.:/#-]{1,64}$/u

// fields that nothing but what was searched for has
const RETRIEVED = /^(?:page_?content|raw_content|snippet|passage|chunk|excerpt|score|similarity|distance|metadata)$/i

// a result under a known name may be short, as memories are, and of any length where something says that it is one;
// under any other name it is a record of something else
const SHORTEST_TEXT = 16
const SHORTEST_OTHER_TEXT = 80

const MATERIAL =
  /(?:^|[^\p{L}])(?:documents?|contexts?|passages?|sources?|results?|chunks?|excerpts?|snippets?|memories)(?:$|[^\p{L}])/iu

// lines of JSON in numbers like these are a log
const MOST_LISTS = 1_000

const OPEN_BRACKET = 91

/** The lists of results that stand as JSON in a region, outside of code: `[{"title":…,"content":…},…]`. */
export function findJsonLists(marks: Marks, region: Region): ContextList[] {
  const { text } = marks
  const values = findOwn(marks.values, region)
  if (values.length === 0) return []
  const fences = new FenceWalk(findOwn(marks.fences, region), region.start)
  const lists: ContextList[] = []
  let at = region.start
  for (const { start } of values) {
    if (start < at) continue
    at = fences.pass(at, start, region.end)
    if (at > start) continue
    const value = readJsonValue(text, start)
    // where one attempt broke off the next one may begin, so that no character is read twice
    at = typeof value === 'number' ? value : value.end
    const list = typeof value === 'number' || value.end > region.end ? undefined : toList(text, start, value)
    if (list !== undefined) lists.push(list)
    if (lists.length > MOST_LISTS) return []
  }
  return lists
}

function toList(text: string, start: number, { end, arrays }: JsonValue): ContextList | undefined {
  // code and prose go on behind what looks like JSON
  if (findContentStart(text, end, findLineEnd(text, end)) < findLineEnd(text, end) && text[end] !== '<')
    return undefined
  const isMaterial = isAnnounced(text, start)
  const isStrings = isMaterial && text.charCodeAt(start) === OPEN_BRACKET
  const isAskedAbout = readCue(text, findContentStart(text, end, text.length))?.question === true
  const results = arrays
    .filter(({ name }) => name === undefined || LIST_NAMES.test(name))
    .filter(({ name, elements }) => {
      const isKnown = isMaterial || isAskedAbout || MATERIAL.test(name ?? '')
      return isResults(text, elements, isKnown ? 1 : SHORTEST_TEXT) || (isStrings && isTexts(text, elements))
    })
    .map(({ elements }) => elements)
  const largest = results.reduce<readonly JsonElement[] | undefined>(
    (best, elements) => (best === undefined || lengthOf(elements) > lengthOf(best) ? elements : best),
    undefined,
  )
  if (largest === undefined) return undefined
  const labels = findLabels(text, largest)
  const blocks = largest.map(({ start, end }, i): BlockSpan => {
    const span = { start, end, contentStart: start, contentEnd: end }
    return labels === undefined ? span : { label: labels[i]!, ...span }
  })
  const positional = isRunning(blocks.map(({ label }) => label && text.slice(label.start, label.end)))
  return { blocks, positional, labelPrefix: '', end }
}

function lengthOf(elements: readonly JsonElement[]): number {
  return elements.at(-1)!.end - elements[0]!.start
}

function isResults(text: string, elements: readonly JsonElement[], shortest: number): boolean {
  return elements.every(({ members }) => members !== undefined && isResult(text, members, shortest))
}

function isResult(text: string, members: ReadonlyMap<string, JsonMember>, shortest: number): boolean {
  if (ORDERED_NAMES.some((name) => members.has(name))) return false
  const names = [...members.keys()]
  const least = names.some((name) => RETRIEVED.test(name)) ? 1 : shortest
  return names.some((name) => {
    const { start, end } = members.get(name)!
    const length = text.charCodeAt(start) === 34 ? end - start - 2 : 0
    return length >= (TEXT_NAMES.test(name) ? least : SHORTEST_OTHER_TEXT)
  })
}

/** Whether the line in front says that the strings of an array are material: they could be anything else. */
function isAnnounced(text: string, start: number): boolean {
  const end = findContentEnd(text, 0, start)
  const line = text.lastIndexOf('\n', end - 1) + 1
  return end > 0 && end - line <= 80 && MATERIAL.test(text.slice(line, end)) && !/[.?!]$/.test(text.slice(line, end))
}

function isTexts(text: string, elements: readonly JsonElement[]): boolean {
  return elements.every(({ start, end }) => text.charCodeAt(start) === 34 && end - start - 2 >= SHORTEST_TEXT)
}

/** The numbers or plain names by which the elements are told apart, if all have the same member for it. */
function findLabels(text: string, elements: readonly JsonElement[]): JsonMember[] | undefined {
  for (const name of LABEL_NAMES) {
    const labels = elements.map(({ members }) => toLabel(text, members?.get(name)))
    if (!labels.every((label) => label !== undefined)) continue
    const values = labels.map(({ start, end }) => text.slice(start, end))
    if (new Set(values).size === values.length) return labels
  }
  return undefined
}

function toLabel(text: string, member: JsonMember | undefined): JsonMember | undefined {
  if (member === undefined) return undefined
  const quoted = text.charCodeAt(member.start) === 34 ? 1 : 0
  const label = { start: member.start + quoted, end: member.end - quoted }
  return label.end - label.start <= 64 && PLAIN_VALUE.test(text.slice(label.start, label.end)) ? label : undefined
}
