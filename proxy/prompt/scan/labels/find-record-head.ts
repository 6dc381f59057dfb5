import { findContentEnd, findContentStart, findLineEnd } from '../find-edges.ts'
import { datedField, orderedField, rankingField, toFieldName } from '../words/ordered-fields.ts'

/** The fields at the beginning of a record, as in `Source: a.md\nContent: text` and `file_path: a.md\n\ntext`. */
export interface RecordHead {
  readonly end: number
  /** Where the text is: in the last field, after a blank line, or on the next line. */
  readonly kind: 'content' | 'metadata' | 'fields'
  /** The names of the fields, equal for all records of one list. */
  readonly keys: string
  /** Position of the number with which its fields count the record. */
  readonly number?: { readonly start: number; readonly end: number } | undefined
  /** Its fields alone do not show that it is a retrieved text. */
  readonly isWeak: boolean
}

// `├── Title: Rome`, because some templates draw a tree, and `**Title:** Rome`
const FIELD =
  /(?:[├└│─|]{1,4}[ \t]?)?(?:\*\*)?([\p{L}][\p{L}\p{N}_ ]{0,30})(?:\*\*)?[:：]{1,2}(?:\*\*)?(?=\s|\p{Script=Han}|(?<=：)[^\s/])/uy
const NAMING =
  /^(?:(?:[a-z]{2,12} )?title|source|source[_ ]?(?:url|id|name|type)|url|uri|link|file|file[_ ]?name|file[_ ]?path|path|page_label|document|document[_ ]?(?:id|title|name|link|url|path)?|doc[_ ]?id|source[_ ]?doc[_ ]?(?:name|link|id|url)|name|id|标题|来源|链接|文件|文件名|文档|タイトル|出典|titel|quelle|datei|dateiname|titre|fichier|título|fuente|archivo|collection|origin|reference|chunk[_ ]?id|passage[_ ]?id|dokument|documento|pmid|pmcid|doi|arxiv[_ ]?id|entry[_ ]?id|文书名|文書名|資料名|(?:文档|文件|资料|文章)(?:名|名称|标题)|网址)$/i
const DESCRIBING =
  /^(?:description|author|authors|page|date|published|score|relevance|high relevancy|(?:[a-z]{2,12} )?(?:relevancy|score|similarity)|section|category|type|language|site|domain|chunk|metadata|tags|updated|日期|作者|页码|分数|相关度|seite|datum|autor|auteur|fecha|página|lines?|line range|distance|similarity|rank|chunk index|published date|journal|copyright|copyright information|relevanz|pertinence|relevancia|ページ|スコア|相似度)$/i
const CONTENT =
  /^(?:content|contents|text|snippet|body|summary|passage|abstract|excerpt|extract|page[_ ]content|内容|正文|文本|本文|inhalt|contenu|texte|contenido|texto|value|code|(?:code|text) (?:chunk|snippet)|chunk[_ ]text|document content|highlights?|片段|摘要|抜粋|要約|auszug|extrait|extracto|fragmento|résumé)$/i
// fields whose value may be the record's number
const COUNTING = /^(?:id|source|source[_ ]?id|no|number|index|rank|document|doc|编号|序号)$/i
const KEY = /^[ \t]*[\w.-]{1,60}:$/
const IDENTIFIER = /^[a-z][a-z0-9_]*$/
// one of these fields names the source of a text, while a title belongs to any text
const ORIGIN =
  /^(?:source|source[_ ]?(?:url|id|name)|url|uri|link|file|file[_ ]?name|file[_ ]?path|path|page_label|document[_ ]?(?:id|title|name|link|url|path)?|doc[_ ]?id|source[_ ]?doc[_ ]?(?:name|link|id|url)|(?:wikipedia|document|article|page) title|pmid|pmcid|doi|arxiv[_ ]?id|entry[_ ]?id|来源|链接|文件|(?:文档|文件|资料|文章)(?:名|名称|标题)|出典|文書名|資料名|quelle|datei|dateiname|fichier|fuente|archivo)$/i

// metadata is short, and a text with only such lines is not a record
const MOST_FIELDS = 16
const LONGEST_VALUE = 300
const TITLED = /^(?:[a-z]{2,12} title|(?:文档|文件|资料|文章)(?:名|名称|标题))$/i
// what a search tool says about a page
const DESCRIPTION = /^description$/i

const EXTRACT = /(?:extract|contents?|text|passage|excerpt|snippet|chunk|内容|片段)[:：][ \t]*(?=\S)/iy

/** Returns whether a field for a retrieved text begins here. */
export function beginsExtract(text: string, start: number): boolean {
  EXTRACT.lastIndex = start
  return EXTRACT.test(text)
}

/** Returns whether a field of this name gives the source of a text. */
export function namesOrigin(name: string): boolean {
  return ORIGIN.test(name)
}

/**
 * Reads the head of a record that begins at `start`, the first character of the line at `line`. Returns 'content' for a
 * text that its credits may follow.
 */
export function readRecordHead(text: string, line: number, start: number): RecordHead | 'content' | undefined {
  const first = readField(text, start)
  if (first === undefined) return undefined
  if (NAMING.test(first.key) || isTitledPage(text, first)) {
    if (isAboveIndented(text, first)) return undefined
    return beginsRecord(text, line, start > line) ? readFields(text, start) : undefined
  }
  // `Similarity: 0.91`, with the text right below
  if (rankingField.test(toFieldName(first.key)) && beginsRecord(text, line, start > line)) {
    const head = readFields(text, start)
    return head?.kind === 'content' ? head : undefined
  }
  if (DATED.test(first.key) && beginsRecord(text, line, start > line)) return readDatedFields(text, start)
  const named = readNamedFields(text, line, start, first.key)
  if (named !== undefined) return named
  // a text followed by its credits
  return CONTENT.test(first.key) ? 'content' : undefined
}

// `Published: 2024-05-02` above `Title: Rome`
const DATED = /^(?:published|updated|date|published date|publication date)$/i
const TITLE = /^(?:title|标题|titel|titre|título)$/i

/** Reads fields of which the first is the date of a text, as catalogues of papers give it, and others are its title and text. */
function readDatedFields(text: string, start: number): RecordHead | undefined {
  const head = readFields(text, start)
  const keys = head?.kind === 'content' ? head.keys.split(',') : []
  return keys.length >= FEWEST_FIELDS && keys.some((key) => TITLE.test(key)) ? head : undefined
}

/** Returns the values of the dates with which these records begin. Undefined unless all begin so. */
export function readFirstDates(text: string, starts: readonly number[]): string[] | undefined {
  const values: string[] = []
  for (const start of starts) {
    const field = readField(text, start)
    if (field === undefined || !DATED.test(field.key)) return undefined
    values.push(text.slice(field.end, findLineEnd(text, field.end)).trim().slice(0, LONGEST_DATE))
  }
  return values
}

const LONGEST_DATE = 40

const FEWEST_FIELDS = 3
const NAMED = /[ \t]{0,3}[a-z][a-z0-9_]{0,30}:[ \t]/y

/** Reads fields that are named like variables, of which the last is the text: `item: Rome`, `shelf: 3`, `content: …`. */
function readNamedFields(text: string, line: number, start: number, key: string): RecordHead | undefined {
  // most lines are not behind a blank line
  if (line > 1 && text[line - 2] !== '\n' && text[line - 2] !== '\r') return undefined
  NAMED.lastIndex = findLineEnd(text, start) + 1
  // below most fields there is none
  if (!NAMED.test(text) || !IDENTIFIER.test(key) || CONTENT.test(key)) return undefined
  if (!beginsRecord(text, line, start > line)) return undefined
  const head = readFields(text, start)
  const keys = head?.kind === 'content' ? head.keys.split(',').map(toFieldName) : []
  const isOrdered = keys.some((name) => orderedField.test(name) || datedField.test(name))
  return head === undefined || keys.length < FEWEST_FIELDS || isOrdered ? undefined : { ...head, isWeak: true }
}

/**
 * Returns whether this is a word alone on its line, such as `Document:`, above a record's indented fields. It is not
 * one of the fields.
 */
function isAboveIndented(text: string, { end }: { readonly end: number }): boolean {
  const lineEnd = findLineEnd(text, end)
  return findContentStart(text, end, lineEnd) === lineEnd && /^[ \t]+\p{L}/u.test(text.slice(lineEnd + 1, lineEnd + 24))
}

/** Returns whether a field names a page, as `Page: Rome` and `Page: 2. Rome` do. `Page: 3` counts it. */
function isTitledPage(text: string, { key, end }: { readonly key: string; readonly end: number }): boolean {
  return (
    /^(?:page|article|chunk|snippet)$/i.test(key) && /^[ \t]*(?:\d{1,3}[.)][ \t])?\p{L}/u.test(text.slice(end, end + 8))
  )
}

/** Reads the fields that begin at `start`, which may be any position. */
export function readFields(text: string, start: number): RecordHead | undefined {
  const keys: string[] = []
  let number: RecordHead['number']
  for (let at = start; keys.length < MOST_FIELDS; ) {
    const field = readField(text, at)
    if (!field || !isKnown(field.key)) return toFields(at, keys, number)
    keys.push(field.key)
    number ??= COUNTING.test(field.key) ? readNumber(text, field.end) : undefined
    if (CONTENT.test(field.key)) return toContent(field.end, keys, number)
    const end = findLineEnd(text, at)
    if (end - at > LONGEST_VALUE && !DESCRIPTION.test(field.key)) return undefined
    if (end >= text.length || isBlankAt(text, end + 1)) return toClosed(text, end, keys, number)
    at = findContentStart(text, end + 1, Math.min(end + 5, text.length))
  }
  return undefined
}

/** Returns the head that ends with this line, which is followed by a blank line or nothing. */
function toClosed(
  text: string,
  end: number,
  keys: readonly string[],
  number: RecordHead['number'],
): RecordHead | undefined {
  // one of these describes its page, so that no text need follow
  const isDescribed = keys.some((key) => DESCRIPTION.test(key)) && keys.some((key) => ORIGIN.test(key))
  const last = text.lastIndexOf('\n', end - 1) + 1
  return isDescribed ? toFields(last, keys, number) : toMetadata(text, end, keys, number)
}

function isKnown(key: string): boolean {
  return NAMING.test(key) || DESCRIBING.test(key) || CONTENT.test(key) || IDENTIFIER.test(key)
}

function toFields(at: number, keys: readonly string[], number: RecordHead['number']): RecordHead | undefined {
  return isRecord(keys) ? toHead('fields', at, keys, number) : undefined
}

function toContent(end: number, keys: readonly string[], number: RecordHead['number']): RecordHead | undefined {
  return keys.length > 1 ? toHead('content', end, keys, number) : undefined
}

/**
 * Returns whether these fields begin a record: several, or a single one with the kind of title, such as `Wikipedia
 * Title` and `文档标题`.
 */
function isRecord(keys: readonly string[]): boolean {
  return keys.length > 1 || (keys.length === 1 && TITLED.test(keys[0]!))
}

function readField(text: string, at: number): { readonly key: string; readonly end: number } | undefined {
  FIELD.lastIndex = at
  const match = FIELD.exec(text)
  return match === null ? undefined : { key: match[1]!.trimEnd(), end: at + match[0].length }
}

function readNumber(text: string, from: number): RecordHead['number'] {
  const start = findContentStart(text, from, findLineEnd(text, from))
  const end = findContentEnd(text, start, findLineEnd(text, start))
  return /^\d{1,6}$/.test(text.slice(start, Math.min(end, start + 8))) ? { start, end } : undefined
}

function toHead(
  kind: RecordHead['kind'],
  end: number,
  keys: readonly string[],
  number: RecordHead['number'],
): RecordHead {
  const hasContent = keys.some((key) => CONTENT.test(key))
  return {
    end,
    kind,
    keys: keys.join(),
    number,
    isWeak: !(keys.some((key) => ORIGIN.test(key)) || (hasContent && keys.length > 2)),
  }
}

function toMetadata(
  text: string,
  lineEnd: number,
  keys: readonly string[],
  number: RecordHead['number'],
): RecordHead | undefined {
  // lines of prose also begin with words and a colon, while a metadata store names its fields like variables
  const isNamed = keys.length > 1 && keys.every((key) => NAMING.test(key) || DESCRIBING.test(key))
  const areKnown = isNamed && keys.some((key) => ORIGIN.test(key))
  if (!areKnown && !keys.every((key) => IDENTIFIER.test(key))) return undefined
  const content = findContentStart(text, lineEnd, text.length)
  return content < text.length ? toHead('metadata', content, keys, number) : undefined
}

function isBlankAt(text: string, line: number): boolean {
  if (line > text.length) return false
  const end = findLineEnd(text, line)
  return end < text.length && findContentStart(text, line, end) === end
}

/**
 * Returns whether a field may begin a record here: after a blank line, an announcement, a rule or a tag, not in
 * mid-paragraph.
 */
export function beginsRecord(text: string, line: number, isIndented: boolean): boolean {
  if (line <= 1) return true
  const before = text.lastIndexOf('\n', line - 2) + 1
  const end = findContentEnd(text, before, line - 1)
  if (end === before) return true
  const last = text[end - 1]!
  // below `metadata:`, indented fields are part of its value
  if (last === ':' || last === '：' || last === '>') return !(isIndented && KEY.test(text.slice(before, end)))
  return '-=*_'.includes(last) && /^[ \t]*([-=*_])\1{2,}$/.test(text.slice(before, end))
}

/**
 * Reads the names of the fields in these lines, which are all indented by `indent`, if all of them describe a text and
 * one gives its source.
 */
export function readCredits(
  text: string,
  start: number,
  indent = 0,
): { readonly keys: string; readonly end: number } | undefined {
  const keys: string[] = []
  let end = start
  for (let line = start; line < text.length && keys.length < MOST_FIELDS; line = findLineEnd(text, line) + 1) {
    const at = line + indent
    const isIndented = indent === 0 || findContentStart(text, line, at) === at
    const field = isIndented ? readField(text, at) : undefined
    if (field === undefined || !(NAMING.test(field.key) || DESCRIBING.test(field.key))) break
    keys.push(field.key)
    end = findContentEnd(text, at, findLineEnd(text, at))
    if (end - at > LONGEST_VALUE) return undefined
  }
  return keys.some((key) => ORIGIN.test(key)) ? { keys: keys.join(), end } : undefined
}
