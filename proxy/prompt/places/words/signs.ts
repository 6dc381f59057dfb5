import { getOrMake } from '#index/get-or-make.ts'
import { classes } from './lexicon.ts'

/*
 * Reads words once: each word of a text bears signs, the classes of the lexicon that it belongs to. Words of scripts
 * without spaces are found at any character.
 */

/** A sign of what begins at a place, and how many tokens it is long. */
interface Mark {
  readonly sign: number
  readonly length: number
}

/** Words in a row; the last one may be a stem. */
interface Row {
  readonly tokens: readonly string[]
  readonly isStem: boolean
  readonly sign: number
}

// a number in brackets is a citation
const TOKEN = /\d+(?:\.\d+)+|[\p{L}\p{M}\p{N}]+|[[.!?;,:(。！？；，、：（؟،।\n]/gu
// Thai, Japanese, Chinese, Korean
const UNSPACED = /[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af々]/
const CHARACTER =
  /[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af々]|[^\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af々]+/g
/** Signs of other scripts, and what ends a clause like them. */
const punctuation: ReadonlyMap<string, string> = new Map(
  ['.!;。！；।\n', '?？؟', ',，、،(（', ':：'].flatMap((alike) => [...alike].map((sign) => [sign, alike[0]!] as const)),
)
const longestRemembered = 40
const LETTER_OF_MARK = /\u0307/g

/** Tokens at which a sentence ends. */
export const sentenceEnds: ReadonlySet<string> = new Set(['.', '?'])
const clauseEnds = new Set([...sentenceEnds, ',', ':'])
const polite = new Set('please bitte then now just also'.split(' '))
const asking = new Set(['can', 'could', 'would', 'will'])

const names = new Map<string, number>()
/** Returns the number of a sign. */
export function signOf(name: string): number {
  const known = names.get(name)
  if (known === undefined) names.set(name, names.size)
  return known ?? names.size - 1
}

/** signs of words, of words that begin so, and of rows of words by the first of them */
const words = new Map<string, number[]>()
const stems = new Map<string, number[]>()
const rows = new Map<string, Row[]>()
let longestStem = 0

function add<Value>(map: Map<string, Value[]>, key: string, value: Value): void {
  getOrMake(map, key, () => []).push(value)
}

/** Gives words a sign: `word`, `stem*`, `noun+` with and without s, `two_words`, `two_stem*`. */
function learn(entry: string, sign: number): void {
  if (entry.endsWith('+')) {
    learn(entry.slice(0, -1), sign)
    learn(`${entry.slice(0, -1)}s`, sign)
    return
  }
  const isStem = entry.endsWith('*')
  const tokens = toTokens(entry.replaceAll('_', ' '))
  const [first] = tokens as [string]
  if (tokens.length > 1) add(rows, first, { tokens, isStem, sign })
  else add(isStem ? stems : words, first, sign)
  if (isStem) longestStem = Math.max(longestStem, first.length)
}

const NUMBER = signOf('NUMBER')
const DOTTED = signOf('DOTTED')
for (const name of ['NTH', 'LETTERED', 'SMALL']) signOf(name)
for (const [name, entries] of Object.entries(classes)) {
  for (const entry of wordsOf(entries)) learn(entry, signOf(name))
}

/** Returns the words of a table's row, between white space. */
export function wordsOf(row: string): string[] {
  return row.split(/\s+/).filter(Boolean)
}

const CLASS = /^[A-Z_]{2,}$/

/** Returns the signs of `CLASS|word|stem*`; words that are in no class get a sign of their own. */
export function signsOfTerm(term: string): readonly number[] {
  return term.split('|').map((name) => {
    const isKnown = names.has(name)
    const sign = signOf(name)
    if (!isKnown && CLASS.test(name)) throw new Error(`no class ${name}`)
    if (!isKnown) learn(name, sign)
    return sign
  })
}

function toTokens(text: string): string[] {
  const found = text.replace(LETTER_OF_MARK, '').match(TOKEN) ?? []
  return found.flatMap((token) => (UNSPACED.test(token) ? token.match(CHARACTER)! : (punctuation.get(token) ?? token)))
}

// articles, prepositions and `and` that are written together with a word
const JOINED = [/^(?:وال|بال|لل|ال|ل|ב?ה|[לב])(?=.{2})/, /^[وו](?=.{3})/]
const SMALL = /^\d{1,2}$/
/** Words with digits: `3`, `2nd`, and `d3` for a document. */
const digits: readonly (readonly [RegExp, number])[] = [
  [/^\d+$/, NUMBER],
  [SMALL, signOf('SMALL')],
  [/^\d{1,2}(?:st|nd|rd|th|º|ª|er|ère|e|ème|nde?|de|ste|й|я|е|го|м|му|ο|η|ό)$/, signOf('NTH')],
  [/^d\d{1,2}$/, signOf('LETTERED')],
]

function signsOfWord(word: string): readonly number[] {
  const found = [...(words.get(word) ?? [])]
  for (let length = Math.min(word.length, longestStem); length > 0; length--) {
    const own = stems.get(word.slice(0, length))
    if (own) found.push(...own)
  }
  if (/\d/.test(word)) found.push(...digits.flatMap(([pattern, sign]) => (pattern.test(word) ? [sign] : [])))
  return found
}

/** Words are read again and again. */
const remembered = new Map<string, readonly Mark[]>()
const mostRemembered = 20_000
const nothing: readonly Mark[] = []

function recall(word: string): readonly Mark[] {
  const known = remembered.get(word)
  if (known) return known
  if (remembered.size > mostRemembered) remembered.clear()
  const forms = new Set([word, ...JOINED.map((joined) => word.replace(joined, ''))])
  const signs = [...forms].flatMap(signsOfWord)
  const marks = signs.length === 0 ? nothing : signs.map((sign) => ({ sign, length: 1 }))
  if (word.length <= longestRemembered) remembered.set(word, marks)
  return marks
}

/** A text in lower case, read word by word. */
export class Reading {
  readonly tokens: readonly string[]
  readonly marks: readonly (readonly Mark[])[]

  constructor(text: string) {
    this.tokens = toTokens(text)
    this.marks = this.tokens.map((token, at) => this.#read(token, at))
  }

  #read(token: string, at: number): readonly Mark[] {
    const { tokens } = this
    const beginning = rows.get(token)
    const isDotted = tokens[at + 1] === '.' && SMALL.test(token)
    if (!beginning && !isDotted) return recall(token)
    const longer = (beginning ?? []).flatMap((row): Mark[] => {
      const { length } = row.tokens
      const isOne = (one: string, i: number): boolean =>
        tokens[at + i] === one || (row.isStem && i === length - 1 && tokens[at + i]?.startsWith(one) === true)
      return row.tokens.every(isOne) ? [{ sign: row.sign, length }] : []
    })
    // `das 2. Dokument`
    if (isDotted) longer.push({ sign: DOTTED, length: 2 })
    return [...recall(token), ...longer]
  }

  isAt(at: number, signs: readonly number[]): boolean {
    return this.marks[at]?.some(({ sign }) => signs.includes(sign)) ?? false
  }

  /** Returns where that ends which bears one of these signs. */
  endsOf(at: number, signs: readonly number[]): number[] {
    return (this.marks[at] ?? []).filter(({ sign }) => signs.includes(sign)).map(({ length }) => at + length)
  }

  /** Whether a clause or a request begins here. */
  beginsClause(at: number): boolean {
    const [before = '.', second = '.'] = [this.tokens[at - 1], this.tokens[at - 2]]
    if (clauseEnds.has(before) || polite.has(before)) return true
    if (before === 'and' || before === 'first' || SMALL.test(before)) return clauseEnds.has(second)
    return before === 'you' && asking.has(second)
  }

  endsClause(at: number): boolean {
    return clauseEnds.has(this.tokens[at] ?? '.')
  }
}
