import { toAsciiDigits } from '../scan/words/digits.ts'
import { endsInRank } from '../scan/words/ordered-fields.ts'
import { counting, cycles } from './counting-words.ts'
import { compareValues, toNumbers } from './order-key.ts'

/*
 * Texts that begin alike except for a number that counts up or down are parts of one text, whatever the word before it:
 * `Art. 1`, `§ 2`, `(3/4)`, `FY2021`, `Статья 4`, `제5조`.
 */

const LONGEST_HEAD = 100
const LONGEST_PREFIX = 60
const NUMBER = /^\d{1,14}(?:\.\d{1,4}){0,4}/
// `3.md` and `http://a/3` are names, `40 %` is an amount
const NO_PLACE = /^(?:\.?\p{L}|[ ]?%|\.\d)/u
// `doc3` and `t1` are names too
const NAMED = /(?<!(?<!\p{L})(?:FY|CY|Q|H|v|V|No|Nr|n))(?<=\p{Script=Latin})$/u
// a key identifies a text, but not its position
const OF_ID = /(?:^|[^\p{L}])(?:\p{L}{1,12}[ _-])?(?:id|uuid|key)[ \t]?[:=#][ \t]?["']?$/iu
// `<document_id>`, unless the numbers are consecutive
const OF_ID_ELEMENT = /<(?:document|doc|source|file|chunk|passage)[_-]id>$/iu
// without words before the number: `3) …`, `2021: …`, `2/4`, `3 – …`
const ENDS_BARE = /^(?:[ \t]*\n|[.):：\]/]|[ \t]*[-–—:：|])/u
// `a: …` may be a name
const ENDS_SIGN = /^[.)\]）]/
// `a.md`
const NAME = /^\.\p{L}/u
const ROMAN = /^[IVXLC]{1,7}(?![\p{L}\d])/u
const LETTER = /^[A-Za-z](?![\p{L}\d])/u
// a word followed by more text
const WORD = /^(\p{L}+)(?=[^\p{L}]{1,3}\S|["'>])/u

/**
 * Returns whether these beginnings of texts are alike up to a number, a letter or a word that counts from text to text.
 */
export function areNumberedHeads(heads: readonly string[]): boolean {
  if (heads.length < 2) return false
  const own = heads.map((head) => toCountedHead(head.slice(0, LONGEST_HEAD)))
  const shared = toSharedPrefix(own)
  return countsInDigits(own, shared) || countsInLetters(own, shared) || countsInWords(own, shared)
}

// `第三章`, `三頁`, `٣`
const CHINESE_NUMBER = /^(第?)([一二三四五六七八九十])(?=[章节節回页頁部幕步课課讲講话話条條款、，.：:])/u

/** Returns a text with the Chinese number that it begins with, and the digits of other scripts, as ASCII digits. */
function toCountedHead(text: string): string {
  return toAsciiDigits(text).replace(
    CHINESE_NUMBER,
    (_, sign: string, digit: string) => `${sign}${'一二三四五六七八九十'.indexOf(digit) + 1}`,
  )
}

/** Returns whether these names are alike up to a letter or a word that counts, as in `title="Act II"`. */
export function areLettered(names: readonly string[]): boolean {
  const shared = toSharedPrefix(names)
  return countsInLetters(names, shared) || countsInWords(names, shared)
}

/**
 * Returns whether these numbers rise or fall throughout. Two numbers must be consecutive, because any two rise or fall.
 */
export function areSteady(values: readonly (readonly number[])[]): boolean {
  if (values.length < 2) return false
  const steps = values.slice(1).map((value, i) => compareValues(value, values[i]!))
  if (values.length === 2) return Math.abs(lastOf(values[1]!) - lastOf(values[0]!)) === 1
  return steps.every((step) => step > 0) || steps.every((step) => step < 0)
}

function lastOf(value: readonly number[]): number {
  return value.at(-1)!
}

function toSharedPrefix(heads: readonly string[]): string {
  const [first = '', ...others] = heads
  let length = Math.min(first.length, LONGEST_PREFIX)
  for (const head of others) {
    let same = 0
    while (same < length && head[same] === first[same]) same++
    length = same
  }
  return first.slice(0, length)
}

function countsInDigits(heads: readonly string[], shared: string): boolean {
  const prefix = shared.replace(/[\d.]+$/, '')
  if (prefix.includes('://') || OF_ID.test(prefix) || endsInRank(prefix) || NAMED.test(prefix)) return false
  const values: number[][] = []
  for (const head of heads) {
    const number = NUMBER.exec(head.slice(prefix.length))?.[0]
    if (number === undefined) return false
    const behind = head.slice(prefix.length + number.length)
    if (NO_PLACE.test(behind) && !/^\p{Script=Han}|^\p{Script=Hangul}/u.test(behind)) return false
    if (prefix === '' && !ENDS_BARE.test(behind)) return false
    values.push(toNumbers(number))
  }
  return areSteady(values) && !(OF_ID_ELEMENT.test(prefix) && !areConsecutive(values))
}

function areConsecutive(values: readonly (readonly number[])[]): boolean {
  return values.slice(1).every((value, i) => Math.abs(lastOf(value) - lastOf(values[i]!)) === 1)
}

/** Returns whether letters or Roman numerals count from the first one, up or down: `Exhibit A`, `IV.`, `b)`. */
function countsInLetters(heads: readonly string[], shared: string): boolean {
  const prefix = shared.replace(/\p{L}+$/u, '')
  const isNamed = /\p{L}[ \t]$/u.test(prefix)
  const read = (pattern: RegExp, toValue: (sign: string) => number): boolean => {
    const values = heads.map((head) => {
      const sign = pattern.exec(head.slice(prefix.length))?.[0]
      if (sign === undefined) return Number.NaN
      const behind = head.slice(prefix.length + sign.length)
      const isEnded = ENDS_SIGN.test(behind) && !NAME.test(behind)
      return isEnded || (isNamed && /^\p{Lu}/u.test(sign)) ? toValue(sign) : Number.NaN
    })
    return isRunning(values)
  }
  return read(ROMAN, (sign) => toNumbers(sign)[0]!) || read(LETTER, (sign) => sign.toLowerCase().charCodeAt(0) - 96)
}

function countsInWords(heads: readonly string[], shared: string): boolean {
  const prefix = shared.replace(/\p{L}+$/u, '')
  const words = heads.map((head) => (WORD.exec(head.slice(prefix.length))?.[1] ?? '').toLowerCase())
  const [first = ''] = words
  if (words.includes('')) return false
  if (
    counting.some((row) => row.includes(first) && isRunning(words.map((word) => row.indexOf(word) + 1 || Number.NaN)))
  )
    return true
  return cycles.some((cycle) => {
    if (!cycle.includes(first)) return false
    const values = words.map((word) => cycle.indexOf(word))
    return !values.includes(-1) && areSteady(values.map((value) => [value]))
  })
}

/** Returns whether these count up from one or down to one. */
function isRunning(values: readonly number[]): boolean {
  return values.every((value, i) => value === i + 1) || values.every((value, i) => value === values.length - i)
}
