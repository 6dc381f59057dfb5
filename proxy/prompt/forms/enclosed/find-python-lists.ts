import type { BlockSpan, ContextList } from '../../context-list.ts'
import { readAnnouncement } from '../../judge/read-evidence.ts'
import { areNumberedNames } from '../../order/numbered-names.ts'
import { areInOrder } from '../../order/order-key.ts'
import { tellsOrder } from '../../order/tells-order.ts'
import { findContentStart, findLineEnd } from '../../scan/find-edges.ts'
import type { Region } from '../../scan/find-elements.ts'
import { FenceWalk } from '../../scan/find-fences.ts'
import type { Marks } from '../../scan/find-marks.ts'
import { datedField, orderedField, toFieldName } from '../../scan/words/ordered-fields.ts'
import { materialWords } from '../../scan/words/vocabulary.ts'
import { findOwn } from '../find-own.ts'
import { type PythonValue, readPythonValue } from './read-python-value.ts'

const MATERIAL = new RegExp(materialWords, 'iu')
// `[{'title': …`, `{'Results': [`, `[Document(…`, `['It rained.'`
const OPENING = /[[{]\s{0,8}(?:[[{]\s{0,8})?(?:['"]|[A-Z]\w{0,40}\()/y
const PAGE_CONTENT = /^page_content$/
const TEXT = /^(?:page_content|raw_content|content|text|snippet|body|summary|description|passage|excerpt|chunk)$/i
const ORIGIN = /^(?:url|uri|link|href|source|file|file_?name|file_?path|path|doc_?id|document_?id|title|metadata)$/i
const PAGE = /^page(?:number|label)?$/
const SHORTEST_TEXT = 16
const LONGEST_VALUE = 200
// each is read to its end, which may be as far as the end of the text
const MOST_READ = 16

/**
 * Finds the list that Python printed: texts, objects with a text and its source, or documents of a retriever, as in
 * `[Document(metadata={'source': 'a.md'}, page_content='It rained.'), …]`. Outside the results of a search tool, only
 * such documents count, and only below words that announce them.
 */
export function findPythonLists(marks: Marks, region: Region): ContextList[] {
  const { text, source } = marks
  const isSearched = source === 'search'
  const values =
    marks.whole && !isSearched ? [] : findOwn(marks.values, region).filter(({ start }) => mayBegin(text, start))
  // most values are links, or JSON
  if (values.length === 0) return []
  const fences = new FenceWalk(findOwn(marks.fences, region), region.start)
  let at = region.start
  let read = 0
  for (const { start } of values) {
    at = start < at ? at : fences.pass(at, start, region.end)
    if (at > start) continue
    if (++read > MOST_READ) return []
    const value = readPythonValue(text, start, region.end)
    const list = value && readList(marks, region, value, isSearched)
    if (list !== undefined) return [list]
    at = value?.end ?? at
  }
  return []
}

function mayBegin(text: string, start: number): boolean {
  OPENING.lastIndex = start
  return OPENING.test(text)
}

function readList(
  { text }: Marks,
  { isKin }: Region,
  value: PythonValue,
  isSearched: boolean,
): ContextList | undefined {
  const lineEnd = findLineEnd(text, value.end)
  // JSON has no single quotes around names and no calls, and is read elsewhere
  if (findContentStart(text, value.end, lineEnd) < lineEnd || isJson(text, value)) return undefined
  const lists = (value.kind === 'list' ? [['', value] as const] : [...value.members])
    .filter(([name, { elements }]) => elements.length > 1 && areTexts(text, elements, name, isSearched))
    .map(([, { elements }]) => elements)
  const [elements, ...others] = lists
  if (elements === undefined || others.length > 0 || isOrdered(text, elements)) return undefined
  if (!isSearched && !isKin && !readAnnouncement(text, value.start).announcesText) return undefined
  const blocks = elements.map(({ start, end }): BlockSpan => ({ start, end, contentStart: start, contentEnd: end }))
  return { blocks, positional: false, labelPrefix: '', form: 'json', weight: 'strong', end: value.end }
}

function isJson(text: string, { start, end }: PythonValue): boolean {
  try {
    JSON.parse(text.slice(start, end))
    return true
  } catch {
    return false
  }
}

/** Returns whether each of these is a text of a search, or an object with a text and its source. */
function areTexts(text: string, elements: readonly PythonValue[], name: string, isSearched: boolean): boolean {
  return elements.every((element) => {
    const { members, kind } = element
    if (kind === 'text')
      return isSearched && isLong(element) && (name === '' || MATERIAL.test(name.replaceAll('_', ' ')))
    const own = textOf(element)
    if (kind !== 'object' || own === undefined || !isLong(own)) return false
    const names = [...members.keys()]
    // a retriever's own kind of object
    if (names.some((key) => PAGE_CONTENT.test(key)) && text[element.start] !== '{') return true
    return isSearched && names.some((key) => ORIGIN.test(key))
  })
}

function isLong({ start, end }: PythonValue): boolean {
  return end - start - 2 >= SHORTEST_TEXT
}

function textOf({ members }: PythonValue): PythonValue | undefined {
  return [...members].find(([name, { kind }]) => kind === 'text' && TEXT.test(name))?.[1]
}

/** Returns whether the members of objects, or their texts, show an order. */
function isOrdered(text: string, elements: readonly PythonValue[]): boolean {
  const members = elements.map((element) => fieldsOf(element))
  if (members.some((own) => own.some(([name]) => orderedField.test(toFieldName(name))))) return true
  const names = members.map((own) => {
    const named = own.filter(([name, { kind }]) => ORIGIN.test(name) && kind === 'text')
    return named.map(([, value]) => toWords(text, value)).join()
  })
  // pages of different files are not an order
  const areOfOthers = !names.includes('') && new Set(names).size === names.length
  const dates = members.map((own) => {
    const date = own
      .map(([name, value]) => [toFieldName(name), value] as const)
      .find(([name]) => datedField.test(name) && !(areOfOthers && PAGE.test(name)))
    return date === undefined ? '' : toWords(text, date[1])
  })
  if (!dates.includes('') && areInOrder(dates)) return true
  return areNumberedNames(names) || tellsOrder(text, elements.map(toText))
}

/** Returns the members of an object and of the objects in it. */
function fieldsOf({ members }: PythonValue): (readonly [string, PythonValue])[] {
  return [...members].flatMap(([name, value]) => [[name, value] as const, ...value.members])
}

/** Returns the beginning of a value, without quotes. */
function toWords(text: string, { start, end }: PythonValue): string {
  return text.slice(start, Math.min(end, start + LONGEST_VALUE)).replace(/^['"]|['"]$/g, '')
}

function toText(element: PythonValue): BlockSpan {
  const { start, end } = textOf(element) ?? element
  return { start: element.start, end: element.end, contentStart: start + 1, contentEnd: end - 1 }
}
