import type { Span } from '../json/json-spans.ts'

/** A line of a text, with its line end. */
export interface TextLine extends Span {
  /** where the line end begins */
  readonly contentEnd: number
  /** it is in fenced code, or is a fence */
  readonly isCode: boolean
  /** it is in an element whose tags are on their own lines, or is such a tag */
  readonly isInside: boolean
}

/** The lines of a text, and whether it ends inside code or an element. */
interface TextLines {
  readonly lines: readonly TextLine[]
  readonly isOpen: boolean
}

type Mark = 'fence' | 'opening' | 'closing'

// a tag alone on its line is short
const LONGEST_TAG = 500
// <, ` and ~: lines that begin otherwise have no mark
const marks = new Set([0x3c, 0x60, 0x7e])
const FENCE = /^(?:```|~~~)/
const OPENING = /^<([a-z][\w.-]{0,60})(?:[ \t][^<>\n]{0,400})?(?<!\/)>$/i
const CLOSING = /^<\/[a-z][\w.-]{0,60}>$/i

/** Splits a text into lines and says of each what it is inside. */
export function readLines(text: string): TextLines {
  const lines: TextLine[] = []
  let isCode = false
  let depth = 0
  let start = 0
  while (start < text.length) {
    const feed = text.indexOf('\n', start)
    const end = feed < 0 ? text.length : feed + 1
    const contentEnd = feed < 0 ? end : findContentEnd(text, start, feed)
    const mark = readMark(text, start, contentEnd)
    const isFence = mark === 'fence'
    const tag = isCode ? undefined : mark
    lines.push({ start, end, contentEnd, isCode: isCode || isFence, isInside: depth > 0 || tag === 'opening' })
    depth = depthBehind(depth, tag)
    if (isFence) isCode = !isCode
    start = end
  }
  return { lines, isOpen: isCode || depth > 0 }
}

function depthBehind(depth: number, mark: Mark | undefined): number {
  if (mark === 'opening') return depth + 1
  return mark === 'closing' ? Math.max(0, depth - 1) : depth
}

function findContentEnd(text: string, start: number, feed: number): number {
  return feed > start && text[feed - 1] === '\r' ? feed - 1 : feed
}

function readMark(text: string, start: number, contentEnd: number): Mark | undefined {
  let at = start
  while (at < contentEnd && (text[at] === ' ' || text[at] === '\t')) at += 1
  if (at === contentEnd || !marks.has(text.charCodeAt(at))) return undefined
  const content = text.slice(at, Math.min(contentEnd, at + LONGEST_TAG)).trimEnd()
  if (FENCE.test(content)) return 'fence'
  if (OPENING.test(content)) return 'opening'
  return CLOSING.test(content) ? 'closing' : undefined
}
