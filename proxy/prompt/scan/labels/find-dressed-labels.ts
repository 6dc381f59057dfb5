import { findContentEnd, findContentStart, findLineEnd, isDigit } from '../find-edges.ts'
import { isAlphabetic, mayBeginDressed, type Noun, readNoun } from '../words/read-noun.ts'
import { BULLET, type Dress, findClosed, LONGEST_LINE, skipSigns, toLabel } from './dress.ts'
import { readLabel } from './find-labels.ts'
import {
  readAddress,
  readAddressed,
  readBare,
  readFrom,
  readNamed,
  readNameInBrackets,
  readNameInside,
  readPath,
  readWord,
} from './find-named-labels.ts'
import { isLabelId, type Label, toLabelNumber } from './label.ts'

/*
 * Labels with any decoration: a word for a document with a number, or with the name of the text's source, between signs
 * of any kind, such as `<<<DOC 1>>>`, `■文書1`, `###PATH: a.md`, `[Quelle: a.pdf, Seite 3]` and `--- src/a.ts ---`.
 */

// `Document n°1`, `Evidence #1`, `Document ID: a7`, `Фрагмент №1`, `文書番号：1`
const OF_NUMBER =
  '(?:#|№|n[°º.]|nr\\.?|no\\.?|id|number|nummer|numéro|número|номер|番号|编号|編號|序号|번호)[ \\t]?[:：=]?[ \\t]?'
const COUNTED = /(?:#|№|n[°º.]|number|nummer|numéro|número|номер|番号|编号|編號|序号|번호)[ \t]?[:：=]?[ \t]?$/iu
const NUMBERED = new RegExp(
  `((?:[ \\t]?[:：_.-][ \\t]?|[ \\t])?(?:${OF_NUMBER})?)([\\p{L}\\p{N}][\\p{L}\\p{N}_.-]{0,63})(?<![_.-])`,
  'iuy',
)
// `ID: 1 | TITLE: Rome | CONTENT: …`
const PIPED =
  /((?:id|no|index|doc|document|source)[:：#][ \t]?)([\w.-]{1,64})[ \t]?\|(?=[ \t]*(?:title|content|source|text|url|file|name)[:：])/iy
// `Title: Rome | Source: a.md | Content: …`
const PIPED_FIELDS =
  /(?:title|source|url|file|name|document|doc|path)[:：][^\n|]{1,200}\|[ \t]*(?:[\p{L}_ ]{1,20}[:：][^\n|]{1,200}\|[ \t]*){0,4}(?:content|text|snippet|summary|excerpt|chunk)[:：](?=\s)/iuy
// `S1`, `D2`: all labels of a list share the letter
const LETTERED = /([A-Z]{1,2})([1-9]\d{0,3}|0)(?=[\]】|:])/uy
// `【4:0†a.md】`
const DAGGERED = /【((?:\d{1,6}:)?)(\d{1,6})†[^【】\n]{1,200}】/uy
const BEHIND_NUMBER =
  /(?:[ \t]?[[(（<【][^\n[\]()（）<>【】]{1,200}[\])）>】])?[ \t]?(?:[:：]{1,3}(?=\s|$|[^\p{Script=Latin}\p{N}])|\.(?=[ \t]+\p{Lu})|\|(?=[ \t])|,(?=[ \t]\p{Lu}[\p{L} ]{1,20}:)|[–—](?=[ \t])|(?:from|of|in|aus|de|du|da|из|з|van|z)[ \t][^\n:：]{1,160}[:：](?=\s))/uy
// `**Source n°1** — Rome`, and `**Source n°1 : Rome**`
const BEHIND_BOLD = /(?:[ \t]?[:：([（–—|-][^*\n]{1,200})?[:：]?\*\*(?:[ \t]?[:：])?(?=\s|$)/uy
const HEADED = /^[ \t]?[-–—([（|]/
const NUMBERED_TAG = /^[\p{L} _-]{2,30}\d/u
const ITEM_SIGNS = '-*+>|•'
const PIPED_INITIALS = 'iInNdDsStTuUfFpP'

/** Reads the label, with signs or in other words, that begins at `start`, the first character of its line. */
export function readDressedLabel(text: string, start: number): Label | undefined {
  const presented = mayPresent(text, start) ? readPresented(text, start) : undefined
  if (presented !== undefined) return presented
  if (isAlphabetic(text.charCodeAt(start))) {
    if (mayBeginDressed(text, start, false)) return readSpoken(text, start, { signs: '', at: start })
    return text[start] === 'h' ? readAddress(text, start) : readPipedFields(text, start)
  }
  const headed = readHeadedBehindRule(text, start)
  if (headed !== undefined) return headed
  const at = skipSigns(text, start)
  if (at === undefined) return undefined
  const isSpoken = mayBeginDressed(text, at, true)
  // most lines that begin with signs are items, quotations and rows
  if (!isSpoken && text[start + 1] === ' ' && ITEM_SIGNS.includes(text[start]!)) return undefined
  return readSigned(text, start, { signs: text.slice(start, at), at }, isSpoken)
}

// `こちらは関連する文脈 1 です：`, `Here is document 1:`
const PRESENTING =
  /(?:(?:こちら|これ|以下|次)(?:は|が)(?:関連する|関係する|参考となる|検索された)?|(?:here is|here['’]s|this is|hier ist) (?:the |das )?)/iy
const PRESENTED =
  /([ \t]?(?:#|no\.?[ ]?|番号)?)(\d{1,4})(?:[ \t]?(?:です|である|になります))?[:：](?=\s|[^\p{Script=Latin}\p{N}]|\p{L})/iuy

/** Returns whether a line may begin like this: `Here is`, `Here's`, or with a Japanese pronoun. */
function mayPresent(text: string, start: number): boolean {
  const first = text[start]!
  if (text.charCodeAt(start) > 127) return 'こ以次'.includes(first)
  return 'HhTt'.includes(first) && " '’".includes(text[start + 4] ?? '-')
}

/** Reads a sentence that only presents the text below or behind it, by its number. */
function readPresented(text: string, start: number): Label | undefined {
  PRESENTING.lastIndex = start
  const words = PRESENTING.exec(text)?.[0]
  if (words === undefined) return undefined
  const at = start + words.length
  const noun = readNoun(text, at)
  PRESENTED.lastIndex = noun.end
  const match = noun.end > at ? PRESENTED.exec(text) : null
  if (match === null) return undefined
  const prefix = text.slice(at, noun.end) + match[1]!
  const form = `${words.toLowerCase()}${prefix.toLowerCase()}~`
  return withNumber(toLabel(start, noun.end + match[0].length, form, noun.isWeak), at, prefix, match[2]!)
}

// `----------## File: a.md`, as some templates join what they separate
const RULE = /([-=])\1{2,60}(?=#{1,6}[ \t])/y

function readHeadedBehindRule(text: string, start: number): Label | undefined {
  const sign = text[start]
  // most lines that begin so are list items
  if ((sign !== '-' && sign !== '=') || text[start + 1] !== sign) return undefined
  RULE.lastIndex = start
  const rule = RULE.exec(text)
  if (rule === null) return undefined
  const at = start + rule[0].length
  return readLabel(text, at) ?? readDressedLabel(text, at)
}

function readSigned(text: string, start: number, dress: Dress, isSpoken: boolean): Label | undefined {
  if (isTag(text, dress)) return undefined
  if (isSpoken) return readSpoken(text, start, dress)
  if (dress.signs === '') return undefined
  if (text[start] === '【' && isDigit(text.charCodeAt(start + 1))) return readDaggered(text, start)
  return readLettered(text, start, dress) ?? readPath(text, start, dress)
}

/** Returns whether this is a tag like `<document>`, which is no label unless a number follows: `<document 1>`. */
function isTag(text: string, { signs, at }: Dress): boolean {
  return signs === '<' && !NUMBERED_TAG.test(text.slice(at, at + 40))
}

function readSpoken(text: string, start: number, dress: Dress): Label | undefined {
  const noun = readNoun(text, dress.at)
  const label =
    (noun.end > dress.at ? readNumbered(text, start, dress, noun) : undefined) ??
    readNamed(text, start, dress, noun) ??
    readNameInBrackets(text, start, dress, noun) ??
    readAddressed(text, start, dress, noun) ??
    readFrom(text, start, dress, noun)
  if (label !== undefined) return label
  if (dress.signs !== '') return readBare(text, start, dress, noun) ?? readPath(text, start, dress)
  return (noun.end > dress.at ? readWord(text, start, noun) : undefined) ?? readPiped(text, start)
}

function readNumbered(text: string, start: number, { signs, at }: Dress, noun: Noun): Label | undefined {
  const number = readNumber(text, at, noun)
  if (number === undefined) return undefined
  const { prefix, id } = number
  const behind = at + prefix.length + id.length
  const end = findLabelEnd(text, behind, signs) ?? findTitledEnd(text, behind)
  // an identifier alone on its line is a field of a record
  const isCounted = COUNTED.test(prefix) && isAlone(text, behind)
  if (end === undefined && !isCounted) return undefined
  // list items may be anything, and words with a number and no sign after it may be any heading
  const isWeak = noun.isWeak || BULLET.test(signs) || end === undefined || text[end - 1] === '-'
  return withNumber(toLabel(start, end ?? behind, `${signs}${prefix.toLowerCase()}~`, isWeak), at, prefix, id)
}

/** Reads the number after a word for a document, and the text before the number. */
function readNumber(
  text: string,
  at: number,
  noun: Noun,
): { readonly prefix: string; readonly id: string } | undefined {
  NUMBERED.lastIndex = noun.end
  const match = NUMBERED.exec(text)
  if (match === null) return undefined
  const [, between, id] = match as unknown as [string, string, string]
  const prefix = text.slice(at, noun.end) + between
  return isLabelId(prefix, id) ? { prefix, id } : undefined
}

/**
 * Reads a label between two rules, such as the three lines `====`, `File: a.md` and `====`. `start` is where the first
 * rule begins.
 */
export function readRuledLabel(text: string, start: number): Label | undefined {
  const ruleEnd = findLineEnd(text, start)
  const rule = text.slice(start, findContentEnd(text, start, ruleEnd))
  const line = ruleEnd + 1
  const lineEnd = findLineEnd(text, line)
  if (lineEnd === line || lineEnd - line > LONGEST_LINE || !text.startsWith(rule, lineEnd + 1)) return undefined
  const end = lineEnd + 1 + rule.length
  if (findContentStart(text, end, findLineEnd(text, end)) < findLineEnd(text, end)) return undefined
  const inside = readInside(text, line, lineEnd)
  return inside && { ...inside, start, end, form: `${rule[0]}${inside.form}` }
}

/** Reads what a line between two rules says about the text below it. */
function readInside(text: string, line: number, lineEnd: number): Label | undefined {
  const noun = readNoun(text, line)
  const number = noun.end > line ? readNumber(text, line, noun) : undefined
  if (number === undefined) return readNameInside(text, line, lineEnd, noun)
  const label = toLabel(line, lineEnd, `${number.prefix.toLowerCase()}~`, noun.isWeak)
  return withNumber(label, line, number.prefix, number.id)
}

/** Returns the end of a label whose number ends at `at`. Undefined if the number is a word of a sentence. */
function findLabelEnd(text: string, at: number, signs: string): number | undefined {
  const closed = findClosed(text, at, signs)
  if (closed !== undefined) return closed
  if (signs.endsWith('**')) {
    BEHIND_BOLD.lastIndex = at
    const bold = BEHIND_BOLD.exec(text)
    if (bold !== null) return at + bold[0].length
  }
  BEHIND_NUMBER.lastIndex = at
  const behind = BEHIND_NUMBER.exec(text)
  if (behind !== null) return at + behind[0].length
  // `### Relevant document 1 (score: 0.9)`
  if (/^#/.test(signs) && HEADED.test(text.slice(at, at + 3))) return at
  return isAlone(text, at) && signs !== '' && !BULLET.test(signs) ? at : undefined
}

/** Returns the end of a label with a title after its number, such as `Source #1 - Rome`, if a text follows below. */
function findTitledEnd(text: string, at: number): number | undefined {
  if (!text.startsWith(' - ', at)) return undefined
  const lineEnd = findLineEnd(text, at)
  const isBelow = findContentStart(text, lineEnd + 1, findLineEnd(text, lineEnd + 1)) < findLineEnd(text, lineEnd + 1)
  return lineEnd - at <= LONGEST_LINE && isBelow ? at + 2 : undefined
}

function isAlone(text: string, at: number): boolean {
  const lineEnd = findLineEnd(text, at)
  return findContentStart(text, at, lineEnd) === lineEnd
}

/** Reads a label like `[S1] text`. */
function readLettered(text: string, start: number, { signs, at }: Dress): Label | undefined {
  if (signs !== '[' && signs !== '【') return undefined
  LETTERED.lastIndex = at
  const match = LETTERED.exec(text)
  if (match === null) return undefined
  const [whole, prefix, id] = match as unknown as [string, string, string]
  const end = findClosed(text, at + whole.length, signs)
  if (end === undefined) return undefined
  return withNumber(toLabel(start, end, `${signs}${prefix}~`, true), at, prefix, id)
}

function readPiped(text: string, start: number): Label | undefined {
  if (!PIPED_INITIALS.includes(text[start]!)) return undefined
  PIPED.lastIndex = start
  const match = PIPED.exec(text)
  if (match === null) return readPipedFields(text, start)
  const [whole, prefix, id] = match as unknown as [string, string, string]
  return withNumber(toLabel(start, start + whole.length, `${prefix.toLowerCase()}|~`, true), start, prefix, id)
}

function readPipedFields(text: string, start: number): Label | undefined {
  if (!PIPED_INITIALS.includes(text[start]!)) return undefined
  PIPED_FIELDS.lastIndex = start
  return PIPED_FIELDS.test(text) ? toLabel(start, start, '|fields~', true) : undefined
}

function readDaggered(text: string, start: number): Label | undefined {
  DAGGERED.lastIndex = start
  const match = DAGGERED.exec(text)
  if (match === null) return undefined
  const [whole, turn, id] = match as unknown as [string, string, string]
  return withNumber(toLabel(start, start + whole.length, `【${turn}†~`, true), start + 1, turn, id)
}

/** Adds the number to a label. It follows `prefix`, which begins at `at`. */
function withNumber(label: Label, at: number, prefix: string, id: string): Label {
  const idStart = at + prefix.length
  return { ...label, prefix, idStart, idEnd: idStart + id.length, number: toLabelNumber(id) }
}
