import { findContentEnd, findLineEnd, isBlank, isDigit } from '../find-edges.ts'

/**
 * A label at the beginning of a line, such as `[3] text`, `[Doc_3] text` and `Document 3: text`, or a record's fields.
 */
export interface Label {
  /** Where the label begins, including heading signs, emphasis and brackets. */
  readonly start: number
  readonly end: number
  /** What all labels of one list have in common. */
  readonly form: string
  /** `[3]`: footnotes, citations and code look the same, so the numbers must be consecutive. */
  readonly bare: boolean
  /** Its words alone do not show that its block is a retrieved text. */
  readonly isWeak: boolean
  /** What precedes the id when the label is mentioned. */
  readonly prefix: string
  /** Empty if blocks have no id, as below `### Document`. */
  readonly idStart: number
  readonly idEnd: number
  /** The id's value, if it is a plain number. */
  readonly number: number | undefined
  /** For a record: the names of its fields. */
  readonly keys?: string
}

/**
 * Returns whether an id is one of a label. `[Source code]` and `File name:` are words: an id contains a digit or is one
 * capital letter.
 */
export function isLabelId(prefix: string, id: string): boolean {
  if (/\p{L}$/u.test(prefix)) return isDigit(id.charCodeAt(0))
  return /\d|^[A-Z]$/.test(id)
}

/** Returns the value of a plain number. `07` is not one, because counting up would not keep its format. */
export function toLabelNumber(id: string): number | undefined {
  const number = Number(id)
  return String(number) === id && Number.isInteger(number) && number >= 0 && number < 1_000_000 ? number : undefined
}

/** What follows a label. Chinese, Japanese and Korean texts continue without a space. */
export const GAP: string = '(?=\\s|$|[\\p{Script=Hangul}\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}«])'

/* Signs of any kind around labels, and their closing counterparts. */

/** Signs before a label, and where its words begin. */
export interface Dress {
  readonly signs: string
  readonly at: number
}

const MOST_SIGNS = 12
/** A label is a whole line or its beginning. Longer lines are text. */
const LONGEST_LINE = 200

const MIRRORED: Readonly<Record<string, string>> = Object.fromEntries(
  '[] <> () {} 【】 《》 〈〉 「」 『』 〔〕 （）'.split(' ').map((pair) => [...pair]),
)
const BRACKETS = Object.values(MIRRORED).join('')

/** Returns whether these signs are the bullet of a list item. */
export function isBullet(signs: string): boolean {
  return ['-', '*', '+', '•'].includes(signs.trimEnd())
}

/** Returns whether these signs begin lines of any Markdown and, alone, say nothing about the line. */
export function isMarkdown(signs: string): boolean {
  const own = signs.trimEnd()
  return isBullet(own) || ['|', '>', '**'].includes(own) || own.replaceAll('#', '') === ''
}

/**
 * Returns the position after a line's leading signs and at most two spaces. Undefined if there are too many signs or
 * nothing follows.
 */
export function skipSigns(text: string, start: number): number | undefined {
  let at = start
  while (at - start < MOST_SIGNS && isSign(text.charCodeAt(at))) at++
  if (at - start === MOST_SIGNS) return undefined
  const end = at
  while (at - end < 2 && text[at] === ' ') at++
  // `==== [File: a.md]:`
  if (at > end && (text[at] === '[' || text[at] === '【')) at++
  const code = text.charCodeAt(at)
  return Number.isNaN(code) || code <= 32 ? undefined : at
}

/**
 * Returns the position after the signs that close the leading ones: right here, at the end of the line, or, of brackets,
 * with a title in between.
 */
export function findClosed(text: string, at: number, signs: string): number | undefined {
  if (isMarkdown(signs)) return undefined
  const closing = toClosing(signs)
  const lineEnd = findContentEnd(text, at, Math.min(findLineEnd(text, at), at + LONGEST_LINE))
  const behind = text.slice(at, lineEnd)
  const inside = behind.indexOf(closing)
  const isHere = inside === 0 || (inside === 1 && isBlank(text.charCodeAt(at)))
  if (!isHere && inside > 0 && behind.endsWith(closing)) return lineEnd
  if (isHere || (inside > 0 && BRACKETS.includes(closing.at(-1)!))) return skipColon(text, at + inside + closing.length)
  return isOpenSign(signs) && isApart(text, at) ? at : undefined
}

/** Returns the end of a name: the end of the line, or the signs that close the leading ones. */
export function findNameEnd(text: string, at: number, signs: string): number | undefined {
  const end = findContentEnd(text, at, findLineEnd(text, at))
  if (end === at || end - at > LONGEST_LINE) return undefined
  const closing = toClosing(signs)
  const inside = text.slice(at, end).indexOf(closing)
  if (isMarkdown(signs) || (inside < 0 && isOpenSign(signs))) return end
  const behind = skipColon(text, at + inside + closing.length)
  return inside >= 0 && (behind === end || isBlank(text.charCodeAt(behind))) ? behind : undefined
}

/** Returns whether signs need no closing signs, such as `■` and `>>>`. */
export function isOpenSign(signs: string): boolean {
  return ![...signs].some((sign) => sign in MIRRORED)
}

/** Returns whether no word continues directly after a number. */
function isApart(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return Number.isNaN(code) || code <= 32 || code > 127 || ':.)-|'.includes(text[at]!)
}

/** Returns the position after a colon, if there is one at `at`. */
export function skipColon(text: string, at: number): number {
  return text[at] === ':' || text[at] === '：' ? at + 1 : at
}

/** Returns the signs that close these. */
function toClosing(signs: string): string {
  return Array.from(signs.slice(signs.lastIndexOf(' ', signs.length - 2) + 1).trim())
    .reverse()
    .map((sign) => MIRRORED[sign] ?? sign)
    .join('')
}

/** Builds a label without a number. */
export function toLabel(start: number, end: number, form: string, isWeak: boolean): Label {
  return { start, end, form, bare: false, isWeak, prefix: '', idStart: start, idEnd: start, number: undefined }
}

/** Returns whether this is a sign: not a letter, digit or whitespace. Quotes and slashes begin words of their own. */
function isSign(code: number): boolean {
  if (code < 128)
    return code > 32 && !(isDigit(code) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122)) && code !== 95
  if (code < 0x2010) return code >= 0xa1 && code <= 0xbf && code !== 0xaa && code !== 0xba
  if (code < 0x2e80) return true
  if (code < 0x3040) return code > 0x3000
  return (code >= 0xd800 && code <= 0xdfff) || code === 0xfe0f || (code >= 0xff01 && code <= 0xff0f)
}
