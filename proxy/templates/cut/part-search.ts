import type { Span } from '../../common/json/json-spans.ts'
import type { PartMark, PartPattern, TemplatePart } from './template.ts'

/** A place where a pattern fits a text. */
export interface PartMatch extends Span {
  /** where each part begins */
  readonly starts: readonly number[]
  /** the number in it, and its value */
  readonly number: (Span & { readonly value: number }) | undefined
}

// longer numbers count no blocks
const LONGEST_NUMBER = 6

/** Finds where a pattern fits a text, in order and in linear time: positions may only rise. */
export class PartSearch {
  readonly #text: string
  readonly #parts: readonly TemplatePart[]
  /** the first literal: its white space, and the rest, which is rarer */
  readonly #space: string
  readonly #first: string
  readonly #beginsLine: boolean
  /** by part: where its literal, or the next line end, was found last */
  readonly #literals: number[]
  readonly #lineEnds: number[]

  /** `beginsLine`: only at the beginning of a line. */
  constructor(text: string, { parts }: PartPattern, beginsLine = false) {
    const [first] = parts
    if (typeof first !== 'object') throw new Error('a pattern has to begin with a literal')
    this.#text = text
    this.#parts = parts
    this.#first = first.literal.trimStart() || first.literal
    this.#space = first.literal.slice(0, first.literal.length - this.#first.length)
    this.#beginsLine = beginsLine
    this.#literals = parts.map(() => -1)
    this.#lineEnds = parts.map(() => -1)
  }

  /** Returns the first match that begins at `from` or behind it. */
  find(from: number): PartMatch | undefined {
    const lead = this.#space.length
    let at = this.#text.indexOf(this.#first, from + lead)
    for (; at >= 0; at = this.#text.indexOf(this.#first, at + 1)) {
      const match = this.#mayBegin(at - lead) ? this.#matchAt(at - lead) : undefined
      if (match) return match
    }
    return undefined
  }

  #mayBegin(at: number): boolean {
    if (this.#beginsLine && at > 0 && this.#text[at - 1] !== '\n') return false
    return this.#space === '' || this.#text.startsWith(this.#space, at)
  }

  #matchAt(start: number): PartMatch | undefined {
    const starts: number[] = []
    let number: PartMatch['number']
    let at = start
    for (const [i, part] of this.#parts.entries()) {
      starts.push(at)
      if (part === 'any') {
        at = this.#findNextLiteral(i, at)
        if (at < 0) return undefined
      } else if (part === 'number') {
        number = readNumber(this.#text, at)
        if (!number) return undefined
        at = number.end
      } else {
        if (!this.#text.startsWith(part.literal, at)) return undefined
        at += part.literal.length
      }
    }
    return { start, end: at, starts, number }
  }

  /** Finds the literal behind a part that may be anything within one line; -1 if it is not in that line. */
  #findNextLiteral(part: number, from: number): number {
    const next = this.#parts[part + 1] as { readonly literal: string }
    const at = advance(this.#text, next.literal, this.#literals, part, from)
    const isInLine = at < this.#text.length && at <= advance(this.#text, '\n', this.#lineEnds, part, from)
    return isInLine ? at : -1
  }
}

/** Returns where a mark is in a match. */
export function placeOf(mark: PartMark, { starts, end }: PartMatch): number {
  return (starts[mark.part] ?? end) + mark.offset
}

/** Returns the next place of a word; the length of the text if there is none. Searches no stretch twice. */
function advance(text: string, word: string, known: number[], part: number, from: number): number {
  if (known[part]! < from) {
    const at = text.indexOf(word, from)
    known[part] = at < 0 ? text.length : at
  }
  return known[part]!
}

function readNumber(text: string, start: number): PartMatch['number'] {
  let end = start
  let value = 0
  for (; end - start <= LONGEST_NUMBER; end++) {
    const digit = text.charCodeAt(end) - 48
    if (!(digit >= 0 && digit <= 9)) break
    value = value * 10 + digit
  }
  const length = end - start
  // `07` would not keep its form when counted up
  if (length === 0 || length > LONGEST_NUMBER || (length > 1 && text[start] === '0')) return undefined
  return { start, end, value }
}
