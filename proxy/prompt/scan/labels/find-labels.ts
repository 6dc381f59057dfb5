import { isDigit } from '../find-edges.ts'
import { type Noun, readNounAlone } from '../words/read-noun.ts'
import { readHeadedNumber } from './find-headed-numbers.ts'
import { readIdBeforeField, readIdentified, readOtherBrackets } from './find-identified-labels.ts'
import { GAP, isLabelId, type Label, toLabelNumber } from './label.ts'

// `Source ID [c910e2e]:`, `Document No. 3:`
const OF_ID = '(?:[ _](?:id|no\\.?|nr\\.?|number))?'
const ID = '([\\p{L}\\p{N}][\\p{L}\\p{N}_.-]{0,63})'
// `Document 0:::`
const COLON = '(?:[ \\t]?[:：]{1,3})'
// `Doc 1(Title: Rome) text`: the block's fields in brackets
const FIELDS = '(?=[ \\t]?[(（](?:title|source|name|file|url|id|score|标题|来源)[:：=])'
// `Result 1`, alone on its line, above the fields of the result
const ABOVE_FIELDS = '(?=[ \\t]?\\r?\\n(?:document[ _]?id|content|metadata|source|title|url|text|file[ _]?name)[:：])'

const DECORATION = /#{1,6}[ \t]{1,3}|\*\*|[=-]{3,10}[ \t]|[-*][ \t](?=\[)/y
// not the initialiser `[3] = …`
const NUMBER = toPattern(`[[【](#?)(\\d{1,6})[\\]】](?:\\*\\*)?${GAP}(?![ \\t]{0,8}=)`)
// `--- [1] a.md ---`
const FRAMED_NUMBER = /()\[(\d{1,4})\](?=[ \t][^\n]{1,200}[ \t][=-]{3,10}[ \t]*\r?\n)/y
const NUMBER_SAID = toPattern('()\\[(\\d{1,4})\\]:(?=[ \\t]+(?![<(]?https?:))')

/* Patterns for what follows a noun. */

// `[Source 1: a.md]`, `[Document 2 - a.md]`: text after the number belongs to the block
const SAID = '(?:[ \\t]?[:：|,(（–—-][^\\[\\]【】\\n]{1,200})?'
const BRACKETED = toPattern(`([ _.-]?#?|[:：] ?)${ID}${SAID}[\\]】](?:\\*\\*)?(?:[:：](?:\\*\\*)?)?${GAP}`)
const LINKED = toPattern(`(${OF_ID}[ \\t]?)\\[${ID}\\](?:${COLON}|(?=[ \\t]?[(\\[]))`)
const SPOKEN = toPattern(`([ \\t]?#?)${ID}(?:${COLON}|${FIELDS}|${ABOVE_FIELDS}|(?=[ \\t]?\\([^()\\n]{1,200}\\)[:：]))`)
const BOLD = toPattern(
  `([ \\t]?#?)${ID}(?:${COLON}\\*\\*|(?:[ \\t]?[:：(（–—-][^*\\n]{1,200})?\\*\\*(?:${COLON})?(?=\\s|$))`,
)
const HEADING = toPattern(`((?:[ _]id[:：]?)?[ \\t]?#?)${ID}(?:${COLON}|(?=[ \\t]?(?:\\r?\\n|$|[(–-])))`)
// `===== Document 0 =====`, and `--- SOURCE 1: Rome ---`, whose title is content
const FRAMED = toPattern(
  `([ \\t]?#?)${ID}(?:${COLON}?[ \\t][=-]{3,10}(?=[ \\t]*(?:\\r?\\n|$))|(?:${COLON}|(?=[ \\t][(（|–—]))(?=[^\\n]{1,200}[ \\t][=-]{3,10}[ \\t]*(?:\\r?\\n|$)))`,
)
// `==== [File:a.md;Relevance:83%]:`, a line that names the file of the block below
const FRAMED_NAME = /[:=][^\]\n]{1,200}\]:?(?=[ \t]*(?:\r?\n|$))/y
// `=== Document: a.md ===`
const FRAMED_FIELD = /[:：][ \t]?[^\n=]{1,200}[ \t][=-]{3,10}(?=[ \t]*(?:\r?\n|$))/y
// `Document 1`, `Reference [1]`, alone on its line
const ALONE = toPattern('([ \\t]#?|[ \\t]?\\[(?=\\d{1,4}\\]))(\\d{1,4})\\]?(?=[ \\t]*\\r?\\n)')

// a heading that names no block, such as `### Document`
const UNNUMBERED = /((?:document|doc|source|passage|chunk|excerpt|snippet|search result))[ \t]*(?=\r?\n)/iuy
// `(Source: a.md)`, alone on its line
const IN_PARENTHESES = /\((source|file|document|doc|url|from)[:：][ \t]?[^()\n]{1,200}\)(?=[ \t]*\r?\n)/iuy
// `# URI: notes/a.md`, a heading that names the block's source
const HEADED_FIELD = /(uri|url|source|file|path|document|filename)[:：][ \t]+(?=\S)/iuy
// `- [c910e2e]: text`: a key contains a digit, or is hexadecimal; `- [x]` is a checkbox
// `- [a7:0-50] text`
const ITEM = /\[((?=[\w.:#-]{0,63}\d|[0-9a-f]{6})[\w.:#-]{1,64})\](?::?)(?=[ \t])/uy
const LINK = /(?:(\d{1,3})\.[ \t])?\[[^[\]\n]{1,200}\]\(https?:\/\/[^\s()]{1,300}\)(?=[ \t]*(?:\r?\n|[-–—:][ \t]))/uy
// `17,a.md,"It rained."`
const ROW = /(\d{1,9})(?:\||,[^,"\n]{1,160},)(?=")/y
// `17|It rained.`, below the column names
const ROW_OF_TEXT = /(\d{1,6})\|(?=[^|"\n])/y
// `[a.md]: text`, as in a list of sources
const NAMED_FILE = /\[([\p{L}\p{N}][\p{L}\p{N}_./ -]{0,99}\.[A-Za-z][A-Za-z0-9]{1,4}(?:#[\w=.-]{1,40})?)\]:(?=[ \t])/uy

/** The form of labels that are the first cell of an unquoted row. */
export const rowForm = '|~'

const DECORATED = '#*=-'

function toPattern(source: string): RegExp {
  return new RegExp(source, 'iuy')
}

/** Reads the label that begins at `start`, the first character of its line. */
export function readLabel(text: string, start: number): Label | undefined {
  const first = text[start]!
  const decoration = DECORATED.includes(first) ? readDecoration(text, start) : ''
  const at = start + decoration.length
  if (decoration !== '' && first !== '#' && decoration !== '**') return readFramed(text, start, decoration)
  if (text[at] === '[' || text[at] === '【') return readBracketed(text, start, decoration)
  if (isDigit(text.charCodeAt(at)))
    return (
      (decoration === '' ? (readRow(text, start) ?? readLink(text, start)) : undefined) ??
      readHeadedNumber(text, start, at)
    )
  if (first === '(') return readNameless(text, start, '', IN_PARENTHESES) ?? readHeadedNumber(text, start, at)
  const noun = readNounAlone(text, at)
  const label = noun && readWordLabel(text, start, decoration, noun)
  return label ?? (first === '#' ? readNameless(text, start, decoration, HEADED_FIELD) : undefined)
}

/** Reads a label after framing signs, or after the bullet of an item. */
function readFramed(text: string, start: number, decoration: string): Label | undefined {
  if (decoration.length === 2) return readItem(text, start, start + decoration.length)
  const at = start + decoration.length
  if (text[at] === '[' && isDigit(text.charCodeAt(at + 1))) return matchLabel(text, start, decoration, FRAMED_NUMBER, 1)
  const noun = readNounAlone(text, text[at] === '[' ? at + 1 : at)
  if (noun === undefined) return undefined
  if (text[at] === '[') return toFramedName(text, start, decoration, noun, FRAMED_NAME)
  return (
    matchLabel(text, start, decoration, FRAMED, 0, noun) ?? toFramedName(text, start, decoration, noun, FRAMED_FIELD)
  )
}

/** Reads a frame that names a text after a noun. What it says about its block moves with the block. */
function toFramedName(text: string, start: number, decoration: string, noun: Noun, shape: RegExp): Label | undefined {
  shape.lastIndex = noun.end
  const match = shape.exec(text)
  return match === null ? undefined : toNameless(start, noun.end + match[0].length, decoration, noun.word.toLowerCase())
}

function readBracketed(text: string, start: number, decoration: string): Label | undefined {
  const at = start + decoration.length + 1
  // `[#1]`
  if (isDigit(text.charCodeAt(text[at] === '#' ? at + 1 : at)))
    return (
      matchLabel(text, start, decoration, NUMBER, 1) ??
      matchLabel(text, start, decoration, NUMBER_SAID, 1) ??
      (decoration === '' ? (readIdBeforeField(text, start) ?? readOtherBrackets(text, start)) : undefined)
    )
  const noun = readNounAlone(text, at)
  const label = noun ? matchLabel(text, start, decoration, BRACKETED, 1, noun) : readIdentified(text, start, at - 1)
  if (label !== undefined || decoration !== '') return label
  return (
    readFileLabel(text, start) ??
    readLink(text, start) ??
    readIdBeforeField(text, start) ??
    readOtherBrackets(text, start)
  )
}

/** Reads a label that gives its block no id. What it says about its block moves with the block. */
function readNameless(text: string, start: number, decoration: string, shape: RegExp): Label | undefined {
  const at = start + decoration.length
  shape.lastIndex = at
  const match = shape.exec(text)
  if (match === null) return undefined
  const label = toNameless(start, at + match[0].length, decoration, match[1]!.toLowerCase())
  return shape === HEADED_FIELD ? { ...label, keys: match[1]!.toLowerCase() } : label
}

function toNameless(start: number, end: number, decoration: string, noun: string): Label {
  const noId = { idStart: start, idEnd: start, number: undefined }
  return { start, end, form: `${decoration}${noun}:`, bare: false, isWeak: true, prefix: '', ...noId }
}

/** Reads a list item that begins with the key of its text, such as `- [c910e2e]: text`. */
function readItem(text: string, start: number, at: number): Label | undefined {
  ITEM.lastIndex = at
  const match = ITEM.exec(text)
  const id = match?.[1]
  if (match === null || id === undefined) return undefined
  const number = toLabelNumber(id)
  const idStart = at + 1
  const end = at + match[0].length
  return {
    start,
    end,
    form: '- []:',
    bare: false,
    isWeak: true,
    prefix: '',
    idStart,
    idEnd: idStart + id.length,
    number,
  }
}

/**
 * Reads a title that links to the source of the text below it, as search tools write it: `2.
 * [Rome](https://a.example)`.
 */
function readLink(text: string, start: number): Label | undefined {
  LINK.lastIndex = start
  const match = LINK.exec(text)
  if (match === null) return undefined
  const [, id = ''] = match
  const end = start + (id === '' ? 0 : id.length + 1)
  const shared = { start, form: id === '' ? '[]()' : '1. []()', bare: false, isWeak: true, prefix: '' }
  return { ...shared, end, idStart: start, idEnd: start + id.length, number: toLabelNumber(id) }
}

/** Reads a row of a table of texts, such as `17|"It rained."`. */
function readRow(text: string, start: number): Label | undefined {
  ROW.lastIndex = start
  ROW_OF_TEXT.lastIndex = start
  const quoted = ROW.exec(text)
  const match = quoted ?? ROW_OF_TEXT.exec(text)
  const id = match?.[1]
  if (match === null || id === undefined) return undefined
  const idEnd = start + id.length
  return {
    start,
    end: start + match[0].length,
    form: quoted === null ? rowForm : match[0].endsWith('|') ? '|' : ',',
    bare: false,
    isWeak: true,
    prefix: '',
    idStart: start,
    idEnd,
    number: toLabelNumber(id),
  }
}

function readFileLabel(text: string, start: number): Label | undefined {
  NAMED_FILE.lastIndex = start
  const match = NAMED_FILE.exec(text)
  if (match === null) return undefined
  const noId = { idStart: start, idEnd: start, number: undefined }
  return { start, end: start + match[0].length, form: '[file]:', bare: false, isWeak: true, prefix: '', ...noId }
}

function readWordLabel(text: string, start: number, decoration: string, noun: Noun): Label | undefined {
  const spoken = decoration === '' ? SPOKEN : decoration === '**' ? BOLD : HEADING
  const label =
    matchLabel(text, start, decoration, spoken, 0, noun) ?? matchLabel(text, start, decoration, LINKED, 1, noun)
  if (label !== undefined || spoken === BOLD) return label
  if (spoken === HEADING) return readUnnumbered(text, start, decoration)
  const alone = matchLabel(text, start, decoration, ALONE, 0, noun)
  // `Result 1` and `Article 1` also begin rows and laws
  return alone && !alone.isWeak ? { ...alone, isWeak: true, form: `${alone.form}alone` } : undefined
}

function readUnnumbered(text: string, start: number, decoration: string): Label | undefined {
  UNNUMBERED.lastIndex = start + decoration.length
  const name = UNNUMBERED.exec(text)?.[1]
  if (name === undefined) return undefined
  const noId = { idStart: start, idEnd: start, number: undefined }
  const end = start + decoration.length + name.length
  return { start, end, form: `${decoration}${name}`, bare: false, isWeak: false, prefix: '', ...noId }
}

function readDecoration(text: string, start: number): string {
  DECORATION.lastIndex = start
  return DECORATION.exec(text)?.[0] ?? ''
}

function matchLabel(
  text: string,
  start: number,
  decoration: string,
  shape: RegExp,
  brackets: 0 | 1,
  noun?: Noun,
): Label | undefined {
  const at = noun?.end ?? start + decoration.length
  shape.lastIndex = at
  const match = shape.exec(text)
  if (match === null) return undefined
  const [whole, between, id] = match as unknown as [string, string, string]
  const prefix = (noun?.word ?? '') + between
  if (!isLabelId(prefix, id)) return undefined
  const idStart = at + between.length + (shape === BRACKETED ? 0 : brackets) + letterOf(id).length
  return {
    start,
    // `**Document [3]:**`
    end: at + whole.length + (decoration === '**' && text.startsWith('**', at + whole.length) ? 2 : 0),
    form: `${decoration}${shape === LINKED ? '[]' : brackets}${prefix}${letterOf(id)}`,
    bare: shape === NUMBER || shape === FRAMED_NUMBER,
    isWeak: shape === NUMBER || shape === FRAMED_NUMBER || (noun?.isWeak ?? false),
    // `Document[3]` is mentioned as [Document 3]
    prefix: (shape === LINKED ? `${prefix.trimEnd()} ` : prefix) + letterOf(id),
    idStart,
    idEnd: idStart + id.length - letterOf(id).length,
    number: toLabelNumber(id.slice(letterOf(id).length)),
  }
}

/** Returns the letter of `S1`, `S2`, `S3`, which all labels share. Only the number counts. */
function letterOf(id: string): string {
  return /^[CDEKPRST](?=[1-9]\d{0,2}$)/.exec(id)?.[0] ?? ''
}
