import { findContentEnd, findLineEnd, holdsWord, isDigit, matchAt } from '../find-edges.ts'
import { isLetter, type Noun, readNoun } from '../words/read-noun.ts'
import {
  type Dress,
  findClosed,
  findNameEnd,
  GAP,
  isBullet,
  isLabelId,
  isMarkdown,
  isOpenSign,
  type Label,
  skipColon,
  skipSigns,
  toLabel,
  toLabelNumber,
} from './label.ts'

/*
 * The one grammar of labels: signs of any kind or none, then a word for a document with an id, or the name of its
 * source, then the signs that close the first ones, a colon, a title or the end of the line: `Document 1: …`,
 * `[Source ID 7] …`, `<<<DOC 1>>>`, `## Context #1`, `==== [File:a.md]:`, `--- src/a.ts ---`. Besides these a number
 * in brackets, a file's name in brackets and the first cell of a row: `[1] …`, `[a.md]: …`, `17|"…"`.
 */

// `Document n°1`, `Source ID [a7]:`, `Document No. 3`, `文書番号：1`
const OF_NUMBER =
  '(?:[_]?(?:#|№|n[°º.]|nr\\.?|no\\.?|id|number|nummer|numéro|número|номер|番号|编号|編號|序号|번호)[ \\t]?[:：]?[ \\t]?)?'
const NUMBERED = new RegExp(
  `((?:[ \\t]?[:：_.-][ \\t]?|[ \\t])?${OF_NUMBER}\\[?)([\\p{L}\\p{N}][\\p{L}\\p{N}_.-]{0,63})(?<![_.-])(?![ _-](?:begin|start))`,
  'iuy',
)
// `Doc 1(Title: Rome) …` and `Document (Title: Rome): …`: fields of the block in brackets
const FIELDS = '(?=[ \\t]?[(（](?:title|source|name|file|url|id|score|标题|来源)[:：=])'
const TOLD = new RegExp(FIELDS, 'iuy')
const BEHIND_NUMBER = new RegExp(
  `(?:[ \\t]?[[(（<【][^\\n[\\]()（）<>【】]{1,200}[\\])）>】])?[ \\t]?(?:：|[:：]{1,3}(?=\\s|$|[^\\p{Script=Latin}\\p{N}])|\\.(?=[ \\t]+\\p{Lu})|[|–—](?=[ \\t]))|${FIELDS}`,
  'iuy',
)
// `**Source n°1** — Rome`, and `**Source n°1 : Rome**`
const BEHIND_BOLD = /(?:[ \t]?[:：([（–—|-][^*\n]{1,200})?[:：]?\*\*(?:[ \t]?[:：])?(?=\s|$)/uy
const ITEM_SIGNS = '-*+>|•'

// `Document title: …`
const FIELD =
  /(?:file|path|url|uri|link|title|from)?(?:[ _]?(?:file|path|name|url|title|document))?[ \t]?[:：=][ \t]?(?=\S)/iuy
// `response.content` is not a file
const KINDS =
  'md|mdx|markdown|txt|rst|adoc|org|tex|pdf|docx?|pptx?|xlsx?|odt|rtf|epub|html?|xml|json|jsonl|ya?ml|toml|ini|cfg|conf|csv|tsv|log|sql|sh|py|ipynb|ts|tsx|js|jsx|mjs|cjs|vue|svelte|css|scss|java|kt|scala|go|rs|rb|php|c|cc|cpp|h|hpp|cs|swift|dart|lua|r|jl|pl|proto|tf|eml|srt|vtt'
const PART = '[\\p{L}\\p{M}\\p{N}_@.+~-]{1,100}'

const fileName = `${PART}(?:[/\\\\]${PART}){0,12}\\.(?:${KINDS})(?![\\w.(])`
const PATH = new RegExp(fileName, 'iuy')

// `## [1]`, `**[1]**`, but not the initialiser `[3] = …`
const NUMBER = new RegExp(
  `(#{1,6}[ \\t]{1,2}|\\*\\*|)[[【]#?(\\d{1,6})[\\]】](?:\\*\\*)?(?:${GAP}(?![ \\t]{0,8}=)|:(?=[ \\t]+(?![<(]?https?:)))`,
  'uy',
)
// `[a.md]: text`, as in a list of sources
const NAMED_FILE = /\[[\p{L}\p{N}][\p{L}\p{N}_./ -]{0,99}\.[A-Za-z][A-Za-z0-9]{1,4}(?:#[\w=.-]{1,40})?\]:(?=[ \t])/uy
// `17|"It rained."`
const ROW = /()(\d{1,9})\|(?=")/y

/** Reads the label that begins at `start`, the first character of its line. */
export function readLabel(text: string, start: number): Label | undefined {
  const code = text.charCodeAt(start)
  if (isDigit(code)) return readId(text, start, ROW, '|')
  const at = isLetter(code) ? start : skipSigns(text, start)
  if (at === undefined) return undefined
  const signs = text.slice(start, at)
  const bare = isDigit(text.charCodeAt(at)) ? readId(text, start, NUMBER, '1') : undefined
  if (bare !== undefined) return { ...bare, bare: true }
  const noun = readNoun(text, at)
  // most lines that begin with signs are items, quotations and rows
  if (noun.end === at && text[start + 1] === ' ' && ITEM_SIGNS.includes(text[start]!)) return undefined
  return readHead(text, start, { signs, at }, noun)
}

function readHead(text: string, start: number, dress: Dress, noun: Noun): Label | undefined {
  const { signs, at } = dress
  const numbered = noun.end > at ? readNumbered(text, start, dress, noun) : undefined
  const form = `${signs}${text.slice(at, noun.end).toLowerCase()}(~`
  const isTold = noun.end > at && matchAt(TOLD, text, noun.end) !== null
  const label = numbered ?? (isTold ? toLabel(start, noun.end, form, noun.isWeak) : undefined)
  // `<document>` is a tag, `<document 1>` is not
  if (label !== undefined || signs === '' || signs === '<') return label
  const named = readNamed(text, start, dress, noun) ?? readPath(text, start, dress)
  if (named !== undefined || signs !== '[' || !matchAt(NAMED_FILE, text, start)) return named
  return toLabel(start, NAMED_FILE.lastIndex, '[file]:', true)
}

/** Reads a label that is little more than the id it captures. */
function readId(text: string, start: number, shape: RegExp, form: string): Label | undefined {
  const match = matchAt(shape, text, start)
  if (match === null) return undefined
  const [whole, signs, id] = match as unknown as [string, string, string]
  const idStart = start + whole.indexOf(id)
  const label = toLabel(start, start + whole.length, signs + form, true)
  return { ...label, idStart, idEnd: idStart + id.length, number: toLabelNumber(id) }
}

/** An id behind a word for a document, and what is said before it. */
interface Id {
  readonly said: string
  readonly id: string
  readonly end: number
  /** It is in brackets of its own, as in `Document [1]`. */
  readonly isLinked: boolean
}

function readIdBehind(text: string, { signs, at }: Dress, noun: Noun): Id | undefined {
  const match = matchAt(NUMBERED, text, noun.end)
  if (match === null) return undefined
  const [whole, between, id] = match as unknown as [string, string, string]
  const isLinked = between.endsWith('[')
  const said = text.slice(at, noun.end) + (isLinked ? between.slice(0, -1) : between)
  const end = noun.end + whole.length
  // `Document: 1` is a field of a record
  if (!isLabelId(said, id) || (signs === '' && ':：'.includes(between[0] ?? ' '))) return undefined
  return isLinked && text[end] !== ']' ? undefined : { said, id, end, isLinked }
}

/** Reads a word for a document and its id. */
function readNumbered(text: string, start: number, dress: Dress, noun: Noun): Label | undefined {
  const own = readIdBehind(text, dress, noun)
  if (own === undefined) return undefined
  const { signs } = dress
  const { said, id, isLinked, end: idEnd } = own
  const behind = isLinked ? idEnd + 1 : idEnd
  const end = findLabelEnd(text, behind, signs)
  const isAlone = !noun.isWeak && said.trimEnd() !== said && toLabelNumber(id) !== undefined && isLineEnd(text, behind)
  if (end === undefined && !isAlone) return undefined
  // list items may be anything, and words with a number and no sign after it may be any heading
  const isWeak = noun.isWeak || isBullet(signs) || end === undefined
  return {
    ...toLabel(
      start,
      isTitled(text, behind, end, signs) ? skipColon(text, behind) : (end ?? behind),
      `${signs}${said.toLowerCase()}${isLinked ? '[' : ''}~`,
      isWeak,
    ),
    // `Document[3]` is mentioned as [Document 3]
    prefix: isLinked ? `${said.trimEnd()} ` : said,
    idStart: idEnd - id.length,
    idEnd,
    number: toLabelNumber(id),
  }
}

/** Returns whether a title is behind the number. It is part of the text, unless brackets hold it. */
function isTitled(text: string, at: number, end: number | undefined, signs: string): boolean {
  return holdsWord(text.slice(at, end ?? at)) && isOpenSign(signs)
}

/** Returns the end of a label whose number ends at `at`. Undefined if the number is a word of a sentence. */
function findLabelEnd(text: string, at: number, signs: string): number | undefined {
  const closed = findClosed(text, at, signs)
  if (closed !== undefined) return closed
  for (const shape of signs.endsWith('**') ? [BEHIND_BOLD, BEHIND_NUMBER] : [BEHIND_NUMBER]) {
    if (matchAt(shape, text, at)) return shape.lastIndex
  }
  return isLineEnd(text, at) && signs !== '' && !isBullet(signs) ? at : undefined
}

function isLineEnd(text: string, at: number): boolean {
  return findContentEnd(text, at, findLineEnd(text, at)) === at
}

/** Reads a word for a source and its name. What the label says about its block moves with the block. */
function readNamed(text: string, start: number, { signs, at }: Dress, noun: Noun): Label | undefined {
  // `**Source:** a.md` is a field of a record
  if (isMarkdown(signs) && signs[0] !== '#') return undefined
  const [field] = matchAt(FIELD, text, noun.end) ?? []
  if (field === undefined) return undefined
  if (noun.end === at && ' _:：=\t'.includes(field[0]!)) return undefined
  const name = noun.end + field.length
  const end = findNameEnd(text, name, signs)
  const word = text.slice(at, name).toLowerCase()
  return end === undefined ? undefined : toLabel(start, end, `${signs}${word}~`, true)
}

/** Reads a file's name between signs, such as `--- src/a.ts ---`. */
function readPath(text: string, start: number, { signs, at }: Dress): Label | undefined {
  if ((isMarkdown(signs) && signs[0] !== '#') || '"\'(/[.~>'.includes(signs[0]!)) return undefined
  if (!matchAt(PATH, text, at)) return undefined
  const end = findNameEnd(text, at, signs)
  return end === undefined ? undefined : toLabel(start, end, `${signs}path~`, true)
}
