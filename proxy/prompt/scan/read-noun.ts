import { labelNouns, qualities } from './vocabulary.ts'

/** A word for a document that a label begins with. */
export interface Noun {
  /** Where it ends; where the label begins, if there is none. */
  readonly end: number
  /** It alone, without the words in front that say how it was found. */
  readonly word: string
}

const NOUN = new RegExp(`(?:the )?${qualities}(${labelNouns})`, 'iuy')

/** Reads the word for a document at `at`. */
export function readNoun(text: string, at: number): Noun {
  NOUN.lastIndex = at
  const match = NOUN.exec(text)
  return match === null ? { end: at, word: '' } : { end: at + match[0].length, word: match[1]! }
}
