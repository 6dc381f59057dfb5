import { findContentEnd, findContentStart, findLineEnd } from './find-edges.ts'

/** The fields that a record begins with, as in `Source: a.md\nContent: text` and `file_path: a.md\n\ntext`. */
export interface RecordHead {
  readonly end: number
  /** Whether the last field is the record's text, or a blank line parts them from it. */
  readonly kind: 'content' | 'metadata'
  /** The names of the fields: alike in all records of one list. */
  readonly keys: string
}

const FIELD = /([A-Za-z][A-Za-z0-9_ ]{0,30}):(?=\s)/y
const NAMING =
  /^(?:title|source|url|link|file|file[_ ]?name|file[_ ]?path|path|page_label|document|document_?id|doc_?id|name|id)$/i
const DESCRIBING =
  /^(?:author|authors|page|date|published|score|relevance|section|category|type|language|site|domain|metadata|document title|source url)$/i
const CONTENT = /^(?:content|contents|text|snippet|body|summary|passage|abstract|excerpt|page[_ ]content)$/i
const IDENTIFIER = /^[a-z][a-z0-9_]*$/

// a metadata header is short, and a text of such lines alone is no record
const MOST_FIELDS = 16

/** Reads the head of a record that begins at `start`, the first character of the line at `line`. */
export function readRecordHead(text: string, line: number, start: number): RecordHead | undefined {
  const first = readField(text, start)
  if (first === undefined || !NAMING.test(first) || !beginsRecord(text, line)) return undefined
  const keys: string[] = []
  let at = start
  while (keys.length < MOST_FIELDS) {
    const key = readField(text, at)
    if (key === undefined) return undefined
    keys.push(key)
    if (CONTENT.test(key)) {
      const end = at + key.length + 1
      return keys.length > 1 ? { end, kind: 'content', keys: keys.join() } : undefined
    }
    const end = findLineEnd(text, at)
    if (isBlankAt(text, end + 1)) return toMetadata(text, end, keys)
    if (!NAMING.test(key) && !DESCRIBING.test(key) && !IDENTIFIER.test(key)) return undefined
    at = end + 1
  }
  return undefined
}

function readField(text: string, at: number): string | undefined {
  FIELD.lastIndex = at
  return FIELD.exec(text)?.[1]
}

function toMetadata(text: string, lineEnd: number, keys: readonly string[]): RecordHead | undefined {
  // prose begins lines with words and a colon too, a metadata store names its fields like variables
  if (!keys.every((key) => IDENTIFIER.test(key))) return undefined
  const content = findContentStart(text, lineEnd, text.length)
  return content < text.length ? { end: content, kind: 'metadata', keys: keys.join() } : undefined
}

function isBlankAt(text: string, line: number): boolean {
  if (line > text.length) return false
  const end = findLineEnd(text, line)
  return end < text.length && findContentStart(text, line, end) === end
}

// behind a blank line, an announcement, a rule or a tag; fields in the middle of a paragraph are text
function beginsRecord(text: string, line: number): boolean {
  if (line === 0) return true
  const before = text.lastIndexOf('\n', line - 2) + 1
  const end = findContentEnd(text, before, line - 1)
  if (end === before) return true
  const last = text[end - 1]!
  if (last === ':' || last === '：' || last === '>') return true
  return '-=*_'.includes(last) && /^[ \t]*([-=*_])\1{2,}$/.test(text.slice(before, end))
}
