import { nouns } from './nouns.ts'

/* Words for documents in labels. Reads one word and looks it up, because there are too many nouns to try each one. */

/** A word for a document that a label begins with. */
export interface Noun {
  /** Where it ends. Equal to the beginning of the label if there is none. */
  readonly end: number
  /** The noun itself, without surrounding words that say how it was found. */
  readonly word: string
  /** The noun alone does not show that its block is a retrieved text. */
  readonly isWeak: boolean
}

interface Entry {
  readonly noun: string
  readonly isWeak: boolean
  /** Length of its first word. If that is the whole noun, looking it up is sufficient. */
  readonly first: number
}

const labelled: readonly Omit<Entry, 'first'>[] = nouns.flatMap(({ singular, label }) =>
  label === undefined ? [] : { noun: singular, isWeak: label === 'weak' },
)
const weakNouns: ReadonlySet<string> = new Set(labelled.filter(({ isWeak }) => isWeak).map(({ noun }) => noun))
const allNouns: ReadonlySet<string> = new Set(labelled.map(({ noun }) => noun))

// words that may precede such a noun in a label, as in `Retrieved document 1`
const qualities: ReadonlySet<string> = new Set(
  (
    'retrieved relevant related matching supporting source context knowledge kb web search text reference top input ' +
    'provided similar external background candidate pertinent relevante relevanter relevantes gefundene gefundener ' +
    'найденный релевантный извлечённый извлеченный'
  ).split(' '),
)
// words that may follow it, as in `Extrait pertinent 1`
const qualitiesBehind: ReadonlySet<string> = new Set(
  'pertinent pertinente récupéré trouvé relevante recuperado recuperada encontrado rilevante recuperato trovato'.split(
    ' ',
  ),
)
const MOST_QUALITIES = 2

// precedes a noun, and begins many lines of prose
const ARTICLE = 'the'
// after signs, a field names a source, as in `###PATH: a.md`; without signs it belongs to a record
const fieldWords: ReadonlySet<string> = new Set(['path', 'filepath', 'url', 'uri', 'link', 'title', 'from'])

/** Nouns by their first word, longest first, because `doc` begins `document`. */
const byFirstWord = new Map<string, Entry[]>()
const byInitial = new Map<string, Entry[]>()
for (const { noun, isWeak } of labelled.toSorted((a, b) => b.noun.length - a.noun.length)) {
  const isWritten = isAlphabetic(noun.charCodeAt(0))
  const entry = { noun, isWeak, first: isWritten ? firstWordOf(noun).length : 0 }
  const [table, key] = isWritten ? [byFirstWord, firstWordOf(noun)] : [byInitial, noun[0]!]
  const alike = table.get(key)
  if (alike === undefined) table.set(key, [entry])
  else alike.push(entry)
}

function firstWordOf(noun: string): string {
  return /^[^ -]+/.exec(noun)![0]
}

const LONGEST_WORD = Math.max(...[...byFirstWord.keys(), ...qualities, ...fieldWords].map(({ length }) => length))

// tells words apart by their first three letters before they are copied; one bit makes letters lower case, including
// Latin-1 and most of Cyrillic, but nothing else
const beginnings = new Uint8Array(1 << 16)
for (const [bit, words] of [byFirstWord.keys(), [...qualities, ARTICLE], fieldWords].entries()) {
  for (const word of words) {
    for (const written of [word, word.toUpperCase(), word[0]!.toUpperCase() + word.slice(1)]) {
      beginnings[toBeginning(written, 0)]! |= 1 << bit
    }
  }
}

function toBeginning(text: string, at: number): number {
  const third = text.charCodeAt(at + 2)
  const two = ((text.charCodeAt(at) | 32) << 10) ^ ((text.charCodeAt(at + 1) | 32) << 5)
  return (two ^ (isAlphabetic(third) ? third | 32 : 0)) & 0xffff
}

/** Returns whether this word alone does not show that a text was retrieved. */
export function isWeakLabel(word: string): boolean {
  return weakNouns.has(word.toLowerCase().replaceAll('_', ' '))
}

/** Returns whether this is exactly a noun for labels. */
export function isLabelNoun(word: string): boolean {
  return allNouns.has(word.toLowerCase().replaceAll('_', ' '))
}

/** Returns whether a label without a colon may begin here. False for most lines of prose, after one look-up. */
export function mayBeginLabel(text: string, at: number): boolean {
  return !isAlphabetic(text.charCodeAt(at)) || (beginnings[toBeginning(text, at)]! & 3) !== 0
}

/** Returns whether words that name a text or its source may begin here. After signs, a field name counts too. */
export function mayBeginDressed(text: string, at: number, isSigned: boolean): boolean {
  if (!isAlphabetic(text.charCodeAt(at))) return byInitial.has(text[at] ?? '')
  if ((beginnings[toBeginning(text, at)]! & (isSigned ? 7 : 3)) === 0) return false
  const word = readWord(text, at)
  if (word === ARTICLE) return readNoun(text, at).end > at
  if (byFirstWord.has(word) || qualities.has(word)) return true
  return isSigned && fieldWords.has(word)
}

/** Reads the word for a document at `at`, with the words around it that say how it was found. */
export function readNoun(text: string, at: number): Noun {
  const from = /^the $/i.test(text.slice(at, at + 4)) ? at + 4 : at
  const noun = readQualified(text, from, MOST_QUALITIES)
  if (noun === undefined) return { end: at, word: '', isWeak: false }
  const behind = skipSpace(text, noun.end)
  const word = behind > noun.end ? readWord(text, behind) : ''
  return qualitiesBehind.has(word) ? { ...noun, end: behind + word.length } : noun
}

function readQualified(text: string, at: number, most: number): Noun | undefined {
  const word = most === 0 ? '' : readWord(text, at)
  const behind = at + word.length
  if (qualities.has(word) && isGap(text, behind)) {
    const noun = readQualified(text, behind + 1, most - 1)
    if (noun !== undefined) return noun
  }
  return readNounAlone(text, at)
}

/** Reads the word for a document at `at`, without words before it. */
export function readNounAlone(text: string, at: number): Noun | undefined {
  const isLetter = isAlphabetic(text.charCodeAt(at))
  if (isLetter && (beginnings[toBeginning(text, at)]! & 1) === 0) return undefined
  const alike = isLetter ? byFirstWord.get(readWord(text, at)) : byInitial.get(text[at] ?? '')
  const entry = alike?.find((one) => isWrittenAt(text, at, one))
  if (entry === undefined) return undefined
  const end = at + entry.noun.length
  return { end, word: text.slice(at, end), isWeak: weakNouns.has(entry.noun) }
}

/**
 * Returns whether the whole noun is here, given that its first word is, with a space or an underscore between its
 * words.
 */
function isWrittenAt(text: string, at: number, { noun, first }: Entry): boolean {
  if (first === noun.length) return true
  const end = at + noun.length
  // most differ at the beginning of the second word or in the last character
  if (isOther(text.charCodeAt(at + first + 1), noun.charCodeAt(first + 1))) return false
  if (isOther(text.charCodeAt(end - 1), noun.charCodeAt(noun.length - 1))) return false
  if (isAlphabetic(noun.charCodeAt(0)) && isAlphabetic(text.charCodeAt(end))) return false
  return text.slice(at, end).toLowerCase().replaceAll('_', ' ') === noun
}

/**
 * Returns whether a character of a text certainly differs from one of a noun, ignoring case. Only ASCII is compared.
 */
function isOther(sign: number, expected: number): boolean {
  return expected < 0x80 && sign !== 0x5f && (sign | 32) !== expected && sign !== expected
}

/** Returns the word that begins here in lower case, or '' if it is longer than any known word. */
function readWord(text: string, at: number): string {
  let end = at
  while (end - at <= LONGEST_WORD && isAlphabetic(text.charCodeAt(end))) end++
  return end - at <= LONGEST_WORD ? text.slice(at, end).toLowerCase() : ''
}

function isGap(text: string, at: number): boolean {
  const sign = text[at]
  return sign === ' ' || sign === '_' || sign === '-'
}

function skipSpace(text: string, at: number): number {
  return text[at] === ' ' ? at + 1 : at
}

/** Returns whether this is a Latin, Greek or Cyrillic letter. */
export function isAlphabetic(code: number): boolean {
  return isLatin(code) || (code >= 0x370 && code <= 0x52f)
}

/** Returns whether this is a letter of a European language with Latin letters, of Turkish, or of Vietnamese. */
function isLatin(code: number): boolean {
  return (
    (code >= 97 && code <= 122) ||
    (code >= 65 && code <= 90) ||
    (code >= 0xc0 && code <= 0x1b0) ||
    (code >= 0x1e00 && code <= 0x1eff)
  )
}
