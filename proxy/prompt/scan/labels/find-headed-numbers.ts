import { findContentEnd, findContentStart, findLineEnd } from '../find-edges.ts'
import { isFileAlone, isFileInBrackets } from './find-named-labels.ts'
import { readCredits, readFields } from './find-record-head.ts'
import { type Label, toLabelNumber } from './label.ts'

const NUMBER = /(?:\((\d{1,3})\)|(\d{1,3})[.)])[ \t]{1,3}(?=\S)/y
// `{'source': 'a.md'}`, as Python and JSON print metadata
export const METADATA: RegExp =
  /\{[ \t]?['"](?:source|title|file|file_?name|file_?path|path|url|uri|link|document|doc_?id|document_?id|id|name)['"]:[^\n{}]{1,300}\}(?=[ \t]*\r?\n)/iy
// `**Rome** (https://a.example)`
const ADDRESS_BEHIND = /\s[([<]?https?:\/\/[^\s]{1,300}$/
const MOST_INDENT = 8
const LONGEST_TITLE = 300

/**
 * Reads a number before a text whose head names its source, on the same line or right below: `1. Title: Rome`, `1.
 * Rome` above `URL: …`, `1. {'source': 'a.md'}`, `1. (a.md) text`, `1. a.md, p. 3` above the text. Other numbered lines are items of any kind of text.
 */
export function readHeadedNumber(text: string, start: number, at: number): Label | undefined {
  NUMBER.lastIndex = at
  const match = NUMBER.exec(text)
  if (match === null) return undefined
  const [whole, inBrackets, id = inBrackets ?? ''] = match
  const end = at + whole.length
  const head = readHead(text, end)
  const number = toLabelNumber(id)
  if (head === undefined || number === undefined) return undefined
  const idStart = at + (inBrackets === undefined ? 0 : 1)
  const form = `${text.slice(start, idStart)}~${text[idStart + id.length]}${head}`
  return { start, end, form, bare: true, isWeak: true, prefix: '', idStart, idEnd: idStart + id.length, number }
}

/** Returns the kind of head a text has after its number. Undefined if the head does not name the text's source. */
function readHead(text: string, at: number): string | undefined {
  METADATA.lastIndex = at
  if (METADATA.test(text)) return '{}'
  if (isFileInBrackets(text, at)) return '(file)'
  if (isFileAlone(text, at)) return 'file'
  const fields = readFields(text, at)
  if (fields !== undefined && !fields.isWeak) return fields.keys
  const lineEnd = findLineEnd(text, at)
  if (lineEnd - at > LONGEST_TITLE || findContentEnd(text, at, lineEnd) === at) return undefined
  const below = findContentStart(text, lineEnd + 1, Math.min(lineEnd + 1 + MOST_INDENT, text.length))
  if (below >= text.length || text[below] === '\n') return undefined
  if (ADDRESS_BEHIND.test(text.slice(at, findContentEnd(text, at, lineEnd)))) {
    NUMBER.lastIndex = below
    // numbered lines with only addresses are notes
    return NUMBER.test(text) ? undefined : '()'
  }
  return readCredits(text, below)?.keys
}
