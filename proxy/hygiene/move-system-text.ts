import { applySplices, elementSpans, memberSpans, type Span, type Splice } from '../json/json-spans.ts'
import { findSureLists } from '../prompt/forms/find-context-lists.ts'
import { findVolatileText } from './find-volatile-text.ts'
import { moveVolatileText } from './move-volatile-text.ts'
import { readLines } from './read-lines.ts'

/** A content with its volatile lines moved after everything that stays the same. */
interface MovedContent extends Splice {
  /** how many lines were moved */
  readonly lines: number
}

/**
 * Moves the volatile lines of a system message's content (a JSON string, or an array of parts) after the rest: lines
 * within their text, parts that contain nothing else after the other parts. Returns undefined if nothing moves, and for
 * a content with context blocks: a line after the last block of a list would be read as a part of it.
 */
export function moveSystemText(json: string, content: Span): MovedContent | undefined {
  if (json[content.start] === '"') return moveInString(json, content)
  return json[content.start] === '[' ? moveInParts(json, content) : undefined
}

function moveInString(json: string, span: Span): MovedContent | undefined {
  const text = JSON.parse(json.slice(span.start, span.end)) as string
  const lines = findVolatileText(text).flatMap(({ line }) => line ?? [])
  if (lines.length === 0 || looksLikeLists(text)) return undefined
  const moved = moveVolatileText(text, lines)
  if (moved === text) return undefined
  return { start: span.start, end: span.end, text: JSON.stringify(moved), lines: lines.length }
}

/**
 * Whether a text contains blocks, or what looks like them: what is moved after them must not become a part of the last.
 */
function looksLikeLists(text: string): boolean {
  const { lists, refusals } = findSureLists(text)
  return lists.length > 0 || refusals.length > 0
}

function moveInParts(json: string, { start }: Span): MovedContent | undefined {
  const parts = elementSpans(json, start).map((part) => readPart(json, part))
  // an element or code that is opened in one part may enclose the next
  if (parts.length === 0 || parts.some(({ isOpen }) => isOpen)) return undefined
  if (looksLikeLists(parts.map(({ text }) => text).join('\n\n'))) return undefined
  const order = [...parts.filter(({ isVolatile }) => !isVolatile), ...parts.filter(({ isVolatile }) => isVolatile)]
  const displaced = order.filter((part, place) => part.isVolatile && part !== parts[place]).length
  const lines = parts.reduce((sum, part) => sum + part.lines, displaced)
  if (lines === 0) return undefined
  const pieces = order.map(({ json: piece }, place) => {
    const next = parts[place + 1]
    return next ? piece + json.slice(parts[place]!.end, next.start) : piece
  })
  return { start: parts[0]!.start, end: parts.at(-1)!.end, text: pieces.join(''), lines }
}

interface Part extends Span {
  /** as it is to be sent */
  readonly json: string
  readonly text: string
  /** lines that moved within it */
  readonly lines: number
  readonly isOpen: boolean
  /** it contains nothing but a volatile line */
  readonly isVolatile: boolean
}

function readPart(json: string, part: Span): Part {
  const own = json.slice(part.start, part.end)
  const left = { ...part, json: own, text: '', lines: 0, isOpen: false, isVolatile: false }
  const span = own[0] === '{' ? memberSpans(own, 0).get('text') : undefined
  if (!span || own[span.start] !== '"') return left
  const text = JSON.parse(own.slice(span.start, span.end)) as string
  const found = findVolatileText(text)
  // a cache breakpoint covers everything before it, so the part that carries one stays where it is
  const isVolatile =
    found[0]?.line?.start === 0 && found[0].line.end === text.length && !own.includes('"cache_control"')
  const moved = isVolatile ? undefined : moveInString(own, span)
  const { isOpen } = readLines(text)
  return {
    ...left,
    text,
    isOpen,
    isVolatile,
    ...(moved ? { json: applySplices(own, [moved]), lines: moved.lines } : {}),
  }
}
