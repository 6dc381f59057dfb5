import { findContentEnd, findContentStart, findLineEnd } from '../find-edges.ts'
import { mayBeginDressed, type Noun, readNoun } from '../words/read-noun.ts'
import { type Dress, findNameEnd, isMarkdown, LONGEST_LINE, skipColon, toClosing, toLabel } from './dress.ts'
import type { Label } from './label.ts'

/* Labels without a number that have the name of the text's source, or only a word for a document. */

// `Document title: …`
const NAMED = /(?:[ _]?(?:file|path|name|url|title|document))?[ \t]?[:：=][ \t]?(?=\S)/iuy
const FIELD = /(?:file|path|url|uri|link|title|from)(?:[ _]?(?:file|path|name|url|title))?[ \t]?[:：=][ \t]?(?=\S)/iuy
// words that precede the name of a source
const FROM = /(?:^from| (?:from|of|in)|^(?:contents? (?:from|of)|auszug aus))[ \t]+(?=\S)/iuy
// `response.content` is not a file
const KINDS =
  'md|mdx|markdown|txt|rst|adoc|org|tex|pdf|docx?|pptx?|xlsx?|odt|rtf|epub|html?|xml|json|jsonl|ya?ml|toml|ini|cfg|conf|csv|tsv|log|sql|sh|py|ipynb|ts|tsx|js|jsx|mjs|cjs|vue|svelte|css|scss|java|kt|scala|go|rs|rb|php|c|cc|cpp|h|hpp|cs|swift|dart|lua|r|jl|pl|proto|tf|eml|srt|vtt'
const PART = '[\\p{L}\\p{M}\\p{N}_@.+~-]{1,100}'
const FILE = `${PART}(?:[/\\\\]${PART}){0,12}\\.(?:${KINDS})(?![\\w.(])`
const NAME = `${FILE}|(?:${PART}/){1,12}${PART}|https?://[^\\s<>\\[\\]()]{1,200}`
const PATH = new RegExp(FILE, 'iuy')
// `pdf | a.pdf`
const PATH_IN_BRACKETS = new RegExp(`(?:[^\\n[\\]【】|·•]{1,60}[|·•][ \\t]?){0,3}${FILE}`, 'iuy')
const WHOLE_NAME = new RegExp(`^(?:${FILE})$`, 'iu')
// the name of a source, or anything in brackets or quotes
const SOURCE = new RegExp(
  `^(?:[[<"'\`@“「]?(?:${NAME})[\\]>"'\`”」]?|[[<"“「][^\\n[\\]<>"“”「」]{1,160}[\\]>"”」])[^\\n:：]{0,60}[:：]?$`,
  'u',
)
const ADDRESSED = new RegExp(`^[ \\t][<[(](?:${NAME})[>\\])][:：]?$`, 'iu')
const WORD = /[:：](?:[ \t]+(?=\S)|[ \t]*(?=\r?\n))/uy
// also names of record fields and parts of prompts
const OF_FIELDS =
  /^(?:sources?|contexts?|references?|evidence|kontext|contexte|contexto|contesto|fuente|fonti|fonte|quelle|источник|джерело|контекст|来源|出典|上下文|コンテキスト|参考\S*|检索结果|搜索结果|検索結果|知识|资料|資料)$/iu
const ADDRESS = /https?:\/\/[^\s<>,[\]()]{1,300}(?:[ \t]*[:–—|-][ \t][^\n]{1,200})?(?=[ \t]*\r?\n[ \t]*\S)/y

/** Returns whether this is a path or name of a file. */
export function isFileName(name: string): boolean {
  return WHOLE_NAME.test(name)
}

/** Reads a word for a source and its name. What the label says about its block moves with the block. */
export function readNamed(text: string, start: number, { signs, at }: Dress, noun: Noun): Label | undefined {
  if (signs === '' || /^[-*+>|•][ \t]?$/.test(signs)) return undefined
  const [shape, from] = noun.end > at ? [NAMED, noun.end] : [FIELD, at]
  shape.lastIndex = from
  const match = shape.exec(text)
  if (match === null) return undefined
  const end = findNameEnd(text, from + match[0].length, signs)
  const word = text.slice(at, from + match[0].length).toLowerCase()
  return end === undefined ? undefined : toLabel(start, end, `${signs}${word}~`, true)
}

/**
 * Reads a line that names the source of the text below it: `Excerpt from [a.md]:`, `From a.md:`, `Document
 * <https://a.example>`.
 */
export function readFrom(text: string, start: number, { signs, at }: Dress, noun: Noun): Label | undefined {
  if (!FROM_BEHIND.test(text.slice(noun.end, noun.end + 2)) && noun.end > at) return undefined
  const lineEnd = findLineEnd(text, at)
  const end = findContentEnd(text, at, lineEnd)
  if (end - at > LONGEST_LINE) return undefined
  const word = text.slice(at, noun.end).toLowerCase()
  const rest = text.slice(noun.end, end)
  if (noun.end > at && ADDRESSED.test(rest)) return toLabel(start, end, `${signs}${word}<>~`, true)
  FROM.lastIndex = 0
  const from = FROM.exec(rest)
  if (from === null || !SOURCE.test(rest.slice(from[0].length))) return undefined
  return toLabel(start, end, `${signs}${word}${from[0].toLowerCase().trimEnd()}~`, true)
}

// `Page: Rome (https://a.example)`, `Note: [[Rome]]`: a name with the address it links to, alone on its line
const LINKED =
  /(?:page|web ?site|site|entry|post)?[ \t]?[:：][ \t]?(?:\[\[[^\]\n]{1,160}\]\]|(?:[^\n]{1,160}[ \t])?[(<](?:https?|file|gs|s3):\/\/[^\s()<>]{1,300}[)>]|\[[^\]\n]{1,160}\]\([^()\s]{1,300}\))(?=[ \t]*\r?\n)/iuy

/** Reads a word for a text, and the link to it. */
export function readAddressed(text: string, start: number, { signs, at }: Dress, { end }: Noun): Label | undefined {
  if (/^[-*+>|•]/.test(signs)) return undefined
  LINKED.lastIndex = end
  const match = LINKED.exec(text)
  const colon = match?.[0].search(/[:：]/) ?? 0
  // with nothing before the colon, it names no text
  if (match === null || end + colon === at) return undefined
  const form = `${signs}${text.slice(at, end + colon).toLowerCase()}:()~`
  return toLabel(start, end + match[0].length, form, true)
}

// `Source [a.md]: text`, `Document (Title: Rome): text`
const IN_BRACKETS = /[ \t]?(?:\[[^\]\n]{1,160}\]|\([\p{L} _]{2,24}[:：=][^()\n]{1,160}\))[:：](?=\s)/uy

/** Reads a word for a source, and its name in brackets. */
export function readNameInBrackets(text: string, start: number, { signs, at }: Dress, noun: Noun): Label | undefined {
  if (noun.end === at || signs !== '') return undefined
  IN_BRACKETS.lastIndex = noun.end
  const match = IN_BRACKETS.exec(text)
  if (match === null) return undefined
  return toLabel(start, noun.end + match[0].length, `${text.slice(at, noun.end).toLowerCase()}[]~`, true)
}

// `Source: a.md`, `来源：a.md | 页码：3`: a field alone on its line that names a file or an address
const ORIGIN = new RegExp(
  `(?:from|source|file|path|url|uri|document|quelle|datei|dokument|fuente|archivo|documento|fonte|arquivo|fichier|bron|bestand|źródło|plik|kaynak|dosya|источник|файл|来源|文件|文档|出典|ファイル|출처|파일)(?:[ _]?(?:file|name|path|url|uri|source|document|page))?[ \\t]?[:：][ \\t]?(?:${NAME})(?:#[\\w=.&-]{1,60}|:\\d{1,6})?(?:[ \\t]{0,2}[|,;(–—-][^\\n]{1,120})?(?=[ \\t]*\\r?\\n[ \\t\\r]*(?:\\n[ \\t]*)?\\S)`,
  'iuy',
)

/** Reads a line that names the file or address of the text below it. */
export function readOrigin(text: string, start: number): Label | undefined {
  ORIGIN.lastIndex = start
  const match = ORIGIN.exec(text)
  if (match === null) return undefined
  return toLabel(start, start + match[0].length, originForm, true)
}

/** The form of labels that name only the source of a text, whatever their field is called. */
export const originForm = 'origin:~'

// `a.pdf#page=3: text`
const FILE_SAID = new RegExp(`${FILE}(?:#[\\w=.&-]{1,60})?[:：][ \\t]{1,2}(?=\\S)`, 'iuy')
const IN_PARENTHESES = new RegExp(`\\(${FILE}(?:#[\\w=.&-]{1,60})?\\)[:：]?[ \\t]{1,2}(?=\\S)`, 'iuy')
const MAY_BE_FILE = /^\S{1,80}\.[a-z]{1,8}(?:#\S{1,60})?$/i

/** Reads a file name before its text, up to the colon at `colon`. */
export function readFileSaid(text: string, start: number, colon: number): Label | undefined {
  // most lines have whitespace before their colon
  if (!MAY_BE_FILE.test(text.slice(start, colon))) return undefined
  FILE_SAID.lastIndex = start
  return FILE_SAID.test(text) ? toLabel(start, FILE_SAID.lastIndex, fileForm, true) : undefined
}

/** Returns whether there is a file name in parentheses here, with text after it. */
export function isFileInBrackets(text: string, at: number): boolean {
  IN_PARENTHESES.lastIndex = at
  return text[at] === '(' && IN_PARENTHESES.test(text)
}

// `a.pdf, p. 3`
const FILE_ALONE = new RegExp(
  `${FILE}(?:[ \\t]{0,2}[|,;(–—#-][^\\n]{1,80})?[:：]?[ \\t]*\\r?\\n(?=[ \\t]*(?!\\d{1,3}[.)]|\\()\\S)`,
  'iuy',
)

/** Returns whether there is a file name here, possibly with a page, alone on its line above a text. */
export function isFileAlone(text: string, at: number): boolean {
  FILE_ALONE.lastIndex = at
  return FILE_ALONE.test(text)
}

/** The form of labels that are a file name and a colon. */
export const fileForm = 'file:~'

// a space and the character after it, as in `Excerpt from` and `Document <`
const FROM_BEHIND = /^ [foi<[(]/i

/** Reads `Passage: text`: a word that only means retrieved text. */
export function readWord(text: string, start: number, { end, word, isWeak }: Noun): Label | undefined {
  WORD.lastIndex = end
  const match = WORD.exec(text)
  if (match === null || isWeak || OF_FIELDS.test(word)) return undefined
  if (/^memory$/i.test(word) && !beginsParagraph(text, start)) return undefined
  return toLabel(start, end + match[0].length, `${word.toLowerCase()}:~`, true)
}

/** Returns whether a line begins a paragraph. `Memory: 16 GB` is also one of several fields. */
function beginsParagraph(text: string, start: number): boolean {
  const line = text.lastIndexOf('\n', start - 1) + 1
  return line === 0 || /\n[ \t\r]*\n$/.test(text.slice(Math.max(line - 16, 0), line))
}

/** The form of labels that only say that a memory follows. */
export const memoryForm = 'memory:~'

// `[Excerpt from document]`
const OF_SOURCE = / (?:from|of) (?:the |a )?(?:document|source|file|page|article)(?![\p{L}\p{N}])/iuy

/** Reads a word for a document between signs, alone on its line: `<|doc|>`, `[Excerpt from document]`. */
export function readBare(text: string, start: number, { signs, at }: Dress, noun: Noun): Label | undefined {
  if (isMarkdown(signs) || noun.end === at) return undefined
  const closing = toClosing(signs)
  OF_SOURCE.lastIndex = noun.end
  const own = noun.end + (OF_SOURCE.exec(text)?.[0].length ?? 0)
  const end = findContentStart(text, own, own + 1)
  if (!text.startsWith(closing, end)) return undefined
  const behind = skipColon(text, end + closing.length)
  const lineEnd = findLineEnd(text, behind)
  if (findContentStart(text, behind, lineEnd) < lineEnd) return undefined
  return toLabel(start, behind, `${signs}${text.slice(at, noun.end).toLowerCase()}~`, true)
}

/** Reads a file name between signs, such as `--- src/a.ts ---`, `[a.pdf | page 3]` and `[pdf | a.pdf]`. */
export function readPath(text: string, start: number, { signs, at }: Dress): Label | undefined {
  if (/^(?:[-*+•|]|>+)[ \t]?$|^["'(/]|^\*\*?$|^[.~]/.test(signs)) return undefined
  const shape = signs === '[' || signs === '【' ? PATH_IN_BRACKETS : PATH
  shape.lastIndex = at
  if (!shape.test(text)) return undefined
  const end = findNameEnd(text, at, signs)
  if (end === undefined) return undefined
  return toLabel(start, end, `${signs}path~`, true)
}

/** Reads `https://a.example : Rome`, alone on its line above a text. */
export function readAddress(text: string, start: number): Label | undefined {
  if (text[start] !== 'h' || !text.startsWith('http', start)) return undefined
  ADDRESS.lastIndex = start
  const match = ADDRESS.exec(text)
  return match === null ? undefined : toLabel(start, start + match[0].length, 'url~', true)
}

/** Reads the line above a rule, such as `Source: Rome`. `line` is where the rule's line begins. */
export function readAboveRule(text: string, line: number): Label | undefined {
  const start = text.lastIndexOf('\n', line - 2) + 1
  const end = findContentEnd(text, start, line)
  if (line === 0 || end === start || end - start > LONGEST_LINE || !mayBeginDressed(text, start, true)) return undefined
  const noun = readNoun(text, start)
  const [shape, from] = noun.end > start ? [NAMED, noun.end] : [FIELD, start]
  shape.lastIndex = from
  if (!shape.test(text)) return undefined
  return toLabel(start, end, `${text.slice(start, shape.lastIndex).toLowerCase()}-~`, true)
}

/** Reads what the line between two rules says about the text below it. */
export function readNameInside(text: string, line: number, lineEnd: number, noun: Noun): Label | undefined {
  const [shape, from] = noun.end > line ? [NAMED, noun.end] : [FIELD, line]
  shape.lastIndex = from
  if (shape.test(text)) return toLabel(line, lineEnd, `${text.slice(line, shape.lastIndex).toLowerCase()}~`, true)
  PATH.lastIndex = line
  const isPath = PATH.test(text) && PATH.lastIndex === findContentEnd(text, line, lineEnd)
  return isPath ? toLabel(line, lineEnd, 'path~', true) : undefined
}
