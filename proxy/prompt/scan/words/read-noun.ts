import { nouns } from './nouns.ts'

/* Words for documents in labels. */

/** A word for a document that a label begins with. */
export interface Noun {
  /** Where it ends. Equal to the beginning of the label if there is none. */
  readonly end: number
  /** The noun alone does not show that its block is a retrieved text. */
  readonly isWeak: boolean
}

const labelled = nouns.filter(({ label }) => label !== undefined)
const allNouns: ReadonlySet<string> = new Set(labelled.map(({ singular }) => singular))
const weakNouns: ReadonlySet<string> = new Set(
  labelled.filter(({ label }) => label === 'weak').map(({ singular }) => singular),
)

// words that may precede such a noun in a label, as in `Retrieved document 1`
const BEFORE =
  'the|retrieved|relevant|related|matching|supporting|source|context|knowledge|kb|web|search|text|reference|top|input|' +
  'provided|similar|external|background|candidate|pertinent|relevante[rs]?|gefundene[rs]?|найденный|релевантный|извлеч[её]нный'
/** No letter of a script that separates words follows. */
const END = '(?![A-Za-z\\u00c0-\\u01b0\\u0370-\\u052f\\u1e00-\\u1eff])'

// longest first, because `doc` begins `document`
const sources = [...allNouns].sort((a, b) => b.length - a.length).map((noun) => noun.replaceAll(' ', '[ _]'))
const NOUN = `(${sources.filter(isAlphabetic).join('|')})${END}|(${sources.filter((source) => !isAlphabetic(source)).join('|')})`
const QUALIFIED = new RegExp(`(?:(?:${BEFORE})[ _-]){0,3}(?:${NOUN})`, 'iuy')

function isAlphabetic(source: string): boolean {
  return isLetter(source.charCodeAt(0))
}

/** Returns whether this is exactly a noun for labels. */
export function isLabelNoun(word: string): boolean {
  return allNouns.has(word.toLowerCase().replaceAll('_', ' '))
}

/** Reads the word for a document at `at`, with the words around it that say how it was found. */
export function readNoun(text: string, at: number): Noun {
  QUALIFIED.lastIndex = at
  const [whole, alphabetic, word = alphabetic ?? ''] = QUALIFIED.exec(text) ?? []
  const isWeak = weakNouns.has(word.toLowerCase().replaceAll('_', ' '))
  return whole === undefined ? { end: at, isWeak: false } : { end: at + whole.length, isWeak }
}

/** Returns whether this is a Latin, Greek or Cyrillic letter. */
export function isLetter(code: number): boolean {
  if (code < 0xc0) return (code >= 97 && code <= 122) || (code >= 65 && code <= 90)
  return code <= 0x1b0 || (code >= 0x370 && code <= 0x52f) || (code >= 0x1e00 && code <= 0x1eff)
}
