import { addTo } from '#index/group-by.ts'
import { fold, literalsOf } from './literals-of.ts'

// a text with more matches is not a question about blocks, and each takes time
const MOST_MATCHES = 1_000

/** A literal, and the number of a pattern that has it. */
interface Literal {
  readonly literal: string
  readonly pattern: number
}

/** Literals of all patterns, by their first characters. */
const literalsByStart = new Map<string, Literal[]>()
const LONGEST_START = 3
/** for hashes of such starts: bit n is set if one has n characters */
const starts = new Uint8Array(2 ** 16)
let patternCount = 0

/** Which patterns may match a text, by number. */
interface Looked {
  readonly text: string
  readonly folded: string
  readonly may: Uint8Array
}

// each text is tried on many patterns in turn, in lower case and as it is written
let recent: readonly Looked[] = []
const MOST_RECENT = 4
// V8 first translates a pattern for its interpreter, which is slow for a large one. It compiles at once for a long text.
const COMPILED_FOR = ' '.repeat(1_000)
/** Longer texts are tried on every pattern: looking for literals would save little, and the texts would be kept. */
const LONGEST_LOOKED = 20_000

/**
 * A pattern with many words, tried only on texts that contain a literal which every match of it contains. A question
 * contains few of the words that matter, and code of large patterns that runs once in a request is slow.
 */
export class WordPattern {
  readonly #pattern: RegExp
  /** its number, once its literals are known; -1 if it has none and is always tried */
  #number: number | undefined
  #isCompiled = false

  /** Takes alternatives, or a pattern; with the flag `g` to find all matches, without it to test texts. */
  constructor(pattern: RegExp | readonly string[], flags?: string) {
    this.#pattern = pattern instanceof RegExp ? pattern : new RegExp(pattern.join('|'), flags)
  }

  test(text: string): boolean {
    return this.#mayMatch(text) && this.#pattern.test(text)
  }

  /** Yields the first matches in a text, a thousand if `most` is not given. */
  *matches(text: string, most: number = MOST_MATCHES): Generator<RegExpExecArray> {
    if (!this.#mayMatch(text)) return
    let count = 0
    for (const match of text.matchAll(this.#pattern)) {
      if (++count > most) return
      yield match
    }
  }

  #mayMatch(text: string): boolean {
    // not before the first text: most commands read none
    this.#number ??= addLiterals(literalsOf(this.#pattern))
    const may = this.#number < 0 || text.length > LONGEST_LOOKED || mayMatch(text)[this.#number] === 1
    if (may && !this.#isCompiled) this.#isCompiled = !this.#pattern.test(COMPILED_FOR)
    return may
  }
}

function addLiterals(literals: readonly string[] | undefined): number {
  for (const literal of literals ?? []) addLiteral(literal, patternCount)
  recent = []
  return literals ? patternCount++ : -1
}

function addLiteral(literal: string, pattern: number): void {
  const start = literal.slice(0, LONGEST_START)
  starts[hashOf(start, 0, start.length)]! |= 1 << start.length
  addTo(literalsByStart, start, { literal, pattern })
}

function hashOf(text: string, at: number, length: number): number {
  let hash = 0
  for (let i = at; i < at + length; i++) hash = Math.imul(hash, 0x9e5b) + text.charCodeAt(i)
  return hash & (starts.length - 1)
}

function mayMatch(text: string): Uint8Array {
  const same = recent.find((one) => one.text === text)
  if (same) return same.may
  const folded = fold(text)
  const may = recent.find((one) => one.folded === folded)?.may ?? findLiterals(folded)
  recent = [{ text, folded, may }, ...recent.slice(0, MOST_RECENT - 1)]
  return may
}

function findLiterals(folded: string): Uint8Array {
  const may = new Uint8Array(patternCount)
  for (let at = 0; at < folded.length; at++) {
    for (let length = 1; length <= Math.min(LONGEST_START, folded.length - at); length++) {
      if (starts[hashOf(folded, at, length)]! & (1 << length)) markFound(folded, at, length, may)
    }
  }
  return may
}

/** Marks the patterns with a literal that stands here and begins with so many characters. */
function markFound(folded: string, at: number, length: number, may: Uint8Array): void {
  for (const { literal, pattern } of literalsByStart.get(folded.slice(at, at + length)) ?? [])
    if (may[pattern] === 0 && folded.startsWith(literal, at)) may[pattern] = 1
}
