import { findContentEnd, findContentStart, findLineEnd, isRule, matchAt } from '../find-edges.ts'
import { named } from '../words/field-names.ts'
import { readLabel } from './find-labels.ts'
import { type Label, toLabel, toLabelNumber } from './label.ts'

/** The fields at the beginning of a record, as in `Source: a.md\nContent: text` and `file_path: a.md\n\ntext`. */
interface RecordHead {
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
// names of files and documents in Chinese, and one language's words for a title
const OF_FILE = '文档名 文档名称 文档标题 文件名 文件名称 文件标题 资料名 资料名称 资料标题 文章名 文章名称 文章标题'
// one of these fields names the source of a text, while a title belongs to any text
const ORIGINS = `source sourceurl sourceid sourcename url uri link file filename filepath path pagelabel document documentid documenttitle documentname documentlink documenturl documentpath docid sourcedocname sourcedoclink sourcedocid sourcedocurl wikipediatitle articletitle pagetitle 来源 链接 文件 ${OF_FILE} 出典 文書名 quelle datei dateiname fichier fuente archivo`
const isOrigin = named(ORIGINS)
const isNaming = named(
  `${ORIGINS} title sourcetype name id collection origin reference chunkid passageid entryid 标题 文档 タイトル titel titre título dokument documento`,
  'title',
)
const isDescribing = named(
  'description author authors page date published publisheddate score relevancy relevance similarity distance rank section category type language site domain chunk chunkindex metadata tags updated line lines 日期 作者 页码 分数 相关度 seite datum autor auteur fecha página',
  'relevancy relevance score similarity',
)
const isContent = named(
  'content contents text snippet body summary passage abstract excerpt extract pagecontent value code codechunk textchunk codesnippet textsnippet chunktext documentcontent 内容 正文 文本 本文 摘要 inhalt contenu texte contenido texto extrait',
)
// fields whose value may be the record's number
const isCounting = named('id source sourceid no number index rank document doc 编号 序号')
const isTitled = named(OF_FILE, 'title')
const isPage = named('page article chunk')
const KEY = /^[ \t]*[\w.-]{1,60}:$/
const IDENTIFIER = /^[a-z][a-z0-9_]*$/
// metadata is short, and a text with only such lines is not a record
const MOST_FIELDS = 16
const LONGEST_VALUE = 300

/**
 * Reads the head of a record that begins at `start`, the first character of the line at `line`. Returns 'content' for a
 * text that its credits may follow.
 */
export function readRecordHead(text: string, line: number, start: number): RecordHead | 'content' | undefined {
  const first = readField(text, start)
  if (first === undefined) return undefined
  if (isNaming(first.key) || isTitledPage(text, first))
    return beginsRecord(text, line, start > line) ? readFields(text, start) : undefined
  // a text followed by its credits
  return isContent(first.key) ? 'content' : undefined
}

/** Returns whether a field names a page, as `Page: Rome` and `Page: 2. Rome` do. `Page: 3` counts it. */
function isTitledPage(text: string, { key, end }: Field): boolean {
  return isPage(key) && /^[ \t]*(?:\d{1,3}[.)][ \t])?\p{L}/u.test(text.slice(end, end + 8))
}

/** Reads the fields that begin at `start`, which may be any position. */
export function readFields(text: string, start: number): RecordHead | undefined {
  const keys: string[] = []
  let number: RecordHead['number']
  for (let at = start; keys.length < MOST_FIELDS; ) {
    const field = readField(text, at)
    if (!field || !isKnown(field.key)) return toHead('fields', at, keys, number)
    keys.push(field.key)
    number ??= readNumber(text, field)
    if (isContent(field.key)) return toHead('content', field.end, keys, number)
    const end = findLineEnd(text, at)
    const next = findContentStart(text, end, text.length)
    if (end - at > LONGEST_VALUE || next === text.length) return undefined
    if (text.slice(end + 1, next).includes('\n')) return toHead('metadata', next, keys, number)
    at = Math.min(next, end + 5)
  }
  return undefined
}

function toHead(
  kind: RecordHead['kind'],
  end: number,
  keys: readonly string[],
  number: RecordHead['number'],
): RecordHead | undefined {
  // several fields begin a record, or a single one with the kind of title, such as `文档标题`
  const isRecord = keys.length > 1 || (kind === 'fields' && keys.some(isTitled))
  if (!(kind === 'metadata' ? areMetadata(keys) : isRecord)) return undefined
  const isWeak = !(keys.some(isOrigin) || (keys.some(isContent) && keys.length > 2))
  return { end, kind, keys: keys.join(), number, isWeak }
}

/** Returns whether fields above a blank line are those of a record. */
function areMetadata(keys: readonly string[]): boolean {
  // lines of prose also begin with words and a colon, while a metadata store names its fields like variables
  if (keys.every((key) => IDENTIFIER.test(key))) return true
  return keys.length > 1 && keys.some(isOrigin) && keys.every(isMetadata)
}

function isMetadata(key: string): boolean {
  return isNaming(key) || isDescribing(key)
}

function isKnown(key: string): boolean {
  return isMetadata(key) || isContent(key) || IDENTIFIER.test(key)
}

interface Field {
  readonly key: string
  /** Where its value begins. */
  readonly end: number
}

export function readField(text: string, at: number): Field | undefined {
  const match = matchAt(FIELD, text, at)
  return match === null ? undefined : { key: match[1]!.trimEnd(), end: at + match[0].length }
}

function readNumber(text: string, { key, end: from }: Field): RecordHead['number'] {
  if (!isCounting(key)) return undefined
  const start = findContentStart(text, from, findLineEnd(text, from))
  const end = findContentEnd(text, start, findLineEnd(text, start))
  return toLabelNumber(text.slice(start, Math.min(end, start + 8))) === undefined ? undefined : { start, end }
}

/**
 * Returns whether a field may begin a record here: after a blank line, an announcement, a rule or a tag, not in
 * mid-paragraph.
 */
function beginsRecord(text: string, line: number, isIndented: boolean): boolean {
  if (line <= 1) return true
  const before = text.lastIndexOf('\n', line - 2) + 1
  const end = findContentEnd(text, before, line - 1)
  if (end === before) return true
  const last = text[end - 1]!
  // below `metadata:`, indented fields are part of its value
  if (last === ':' || last === '：' || last === '>') return !(isIndented && KEY.test(text.slice(before, end)))
  return isRule(text, findContentStart(text, before, end), end)
}

/** The names of the fields below a text, and where they end. */
export interface Credits {
  readonly keys: string
  readonly end: number
}

/** Reads the names of the fields in these lines, if all of them describe a text and one gives its source. */
export function readCredits(text: string, start: number): Credits | undefined {
  const keys: string[] = []
  let end = start
  for (let line = start; line < text.length && keys.length < MOST_FIELDS; line = findLineEnd(text, line) + 1) {
    const field = readField(text, line)
    if (field === undefined || !isMetadata(field.key)) break
    keys.push(field.key)
    end = findContentEnd(text, line, findLineEnd(text, line))
    if (end - line > LONGEST_VALUE) return undefined
  }
  return keys.some(isOrigin) ? { keys: keys.join(), end } : undefined
}

// what may come before a first record: words or a tag on its line, or the indentation of a placeholder that all records
// replace
const LEAD_IN =
  /[:：](?:[ \t]{0,4}["'“]?|[ \t]{0,2}\r?\n[ \t]{4,12})$|>(?:[ \t]{0,2}|[ \t]*\r?\n[ \t]{4,16})$|\n[ \t]*\r?\n[ \t]{4,12}$|(?:^|\n)[ \t]*(?:"""|''')$/
const FURTHEST_LEAD_IN = 40

/**
 * Converts a record to a label. Its fields move with it, except a number that counts: of a field, or of a label that
 * begins its text, as in `file_name: a.md\n\nSource 1:\ntext`.
 */
export function toRecordLabel(text: string, start: number, { end, kind, keys, number, isWeak }: RecordHead): Label {
  const form = `record ${kind}`
  const inner = number === undefined && kind === 'metadata' ? readLabel(text, end) : undefined
  if (inner?.number !== undefined) return { ...inner, start, form: `${form} ${inner.form}`, bare: false, isWeak, keys }
  const id = number ?? { start, end: start }
  return {
    ...toLabel(start, end, form, isWeak),
    idStart: id.start,
    idEnd: id.end,
    number: toLabelNumber(text.slice(id.start, id.end)),
    keys,
  }
}

// each is looked for in the whole text
const MOST_HEADS = 24

/**
 * Adds the first label of a list where it follows words on their line, as in `Context: Source: a.md`, or is indented
 * more than the others below such words. The other labels show what it looks like.
 */
export function addInlineHeads(text: string, labels: Label[]): void {
  const forms = new Set<string>()
  const added: Label[] = []
  for (const label of labels) {
    const form = label.form + label.keys
    const mayFollow = label.keys !== undefined || (!label.bare && (label.number ?? 0) > 0)
    if (!mayFollow || forms.has(form) || forms.size === MOST_HEADS) continue
    forms.add(form)
    const first = findHeadBefore(text, label)
    if (first?.form === label.form) added.push(first)
  }
  if (added.length === 0) return
  labels.push(...added)
  labels.sort((a, b) => a.start - b.start)
}

/** Finds a record with the same fields, or the label with the number before, after words. */
function findHeadBefore(text: string, { start, idStart, number, keys }: Label): Label | undefined {
  const [key] = keys?.split(',', 1) ?? []
  const written = key === undefined ? [`${text.slice(start, idStart)}${number! - 1}`] : [`${key}:`, `${key}：`]
  const at = Math.max(...written.map((own) => text.lastIndexOf(own, start - 1)))
  if (at < 1 || !LEAD_IN.test(text.slice(Math.max(at - FURTHEST_LEAD_IN, 0), at))) return undefined
  if (keys === undefined) return [readLabel(text, at)].find((own) => own?.number === number! - 1)
  const head = readFields(text, at)
  return head?.keys === keys ? toRecordLabel(text, at, head) : undefined
}
