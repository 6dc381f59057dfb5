import { alternativesOf, foldCase, requiredLiterals } from './required-literals.ts'

/** An expression and the texts of which each match holds one; it is built only when a text holds one of them. */
interface Guarded {
  readonly source: string
  /** undefined: it has to be tried on every text */
  readonly needed: readonly string[] | undefined
  pattern: RegExp | undefined
  /** the last scan that found a text it needs */
  foundIn: number
}

/**
 * An expression over words that is run only on texts which hold a word it needs. Most texts lack those of nearly all
 * expressions, and one pass over a text answers for all of them. So a text costs little, and expressions that no text
 * needs, such as those in other languages, are never compiled, which takes V8 milliseconds each.
 */
export class WordPattern {
  readonly #source: string
  readonly #flags: string
  #whole: Guarded | undefined
  #alternatives: readonly Guarded[] | undefined

  /** `source` may be an expression, whose flags it then has. */
  constructor(source: string | RegExp, flags: string = typeof source === 'string' ? 'u' : source.flags) {
    this.#source = typeof source === 'string' ? source : source.source
    this.#flags = flags
  }

  /** Returns whether the expression matches somewhere in a text. Its alternatives are tried one by one. */
  test(text: string): boolean {
    const flags = this.#flags.replace('g', '')
    this.#alternatives ??= alternativesOf(this.#source, flags).map((source) => guard(source, flags))
    return this.#alternatives.some((own) => scan.holds(text, own) && toPattern(own, flags).test(text))
  }

  /** Returns all matches in a text, in order. */
  matches(text: string): Iterable<RegExpExecArray> {
    return this.#mayMatch(text) ? text.matchAll(toPattern(this.#whole!, this.#globally)) : []
  }

  /** Replaces all matches in a text. */
  replace(text: string, write: (match: string) => string): string {
    return this.#mayMatch(text) ? text.replaceAll(toPattern(this.#whole!, this.#globally), write) : text
  }

  #mayMatch(text: string): boolean {
    this.#whole ??= guard(this.#source, this.#flags)
    return scan.holds(text, this.#whole)
  }

  get #globally(): string {
    return this.#flags.includes('g') ? this.#flags : `${this.#flags}g`
  }
}

function toPattern(guarded: Guarded, flags: string): RegExp {
  guarded.pattern ??= new RegExp(guarded.source, flags)
  return guarded.pattern
}

/** A text that expressions need. */
interface Literal {
  readonly text: string
  readonly users: Guarded[]
  /** the last scan that found it */
  foundIn: number
}

/** Finds the texts that expressions need, all in one pass, by their first two characters. */
class Scan {
  readonly #literals = new Map<string, Literal>()
  readonly #byStart = new Map<number, Literal[]>()
  #count = 0
  #text: string | undefined
  #folded: string | undefined

  /** From now on, scans look for what an expression needs. */
  add(guarded: Guarded): void {
    for (const text of guarded.needed ?? []) {
      const known = this.#literals.get(text)
      if (known) known.users.push(guarded)
      else this.#addLiteral({ text, users: [guarded], foundIn: 0 })
    }
    this.#text = undefined
    this.#folded = undefined
  }

  /** Returns whether a text holds what an expression needs. Several questions about one text cost a single pass. */
  holds(text: string, guarded: Guarded): boolean {
    if (guarded.needed === undefined) return true
    if (text !== this.#text) this.#scan(text)
    return guarded.foundIn === this.#count
  }

  #addLiteral(literal: Literal): void {
    this.#literals.set(literal.text, literal)
    const start = startOf(literal.text, 0, literal.text.length)
    const known = this.#byStart.get(start)
    if (known) known.push(literal)
    else this.#byStart.set(start, [literal])
  }

  #scan(text: string): void {
    this.#text = text
    const folded = foldCase(text)
    if (folded === this.#folded) return
    this.#folded = folded
    this.#count += 1
    for (let i = 0; i < folded.length; i++) {
      this.#note(folded, i, startOf(folded, i, 2))
      this.#note(folded, i, startOf(folded, i, 1))
    }
  }

  #note(folded: string, at: number, start: number): void {
    for (const literal of this.#byStart.get(start) ?? []) {
      if (literal.foundIn === this.#count || !folded.startsWith(literal.text, at)) continue
      literal.foundIn = this.#count
      for (const user of literal.users) user.foundIn = this.#count
    }
  }
}

/** The first character of a text, or its first two if it has as many, as a number. */
function startOf(text: string, at: number, length: number): number {
  const first = text.charCodeAt(at)
  return length > 1 && at + 1 < text.length ? first * 0x1_0000 + text.charCodeAt(at + 1) : first
}

const scan = new Scan()

function guard(source: string, flags: string): Guarded {
  const guarded: Guarded = { source, needed: requiredLiterals(source, flags), pattern: undefined, foundIn: 0 }
  scan.add(guarded)
  return guarded
}
