import { getOrMake } from '#index/get-or-make.ts'
import { type Reading, sentenceEnds, signOf, signsOfTerm, wordsOf } from './signs.ts'

/*
 * Rules on words, stated once for all languages. A rule is a row of terms: `LATER TEXT|ones? ..4 WINS`.
 *   word, stem*, CLASS   one of the lexicon's classes, or a word itself; `a|b` either; `two_words` in a row
 *   term?                may be left out
 *   !term                what stands here is none of these
 *   _   ..   ..3         any word; up to eight, or three, within the sentence
 *   ^   $   $$           a clause begins, ends; the sentence ends
 */

type Term =
  | { readonly kind: 'any' | 'start' | 'clause' | 'end' }
  | { readonly kind: 'gap'; readonly most: number }
  | { readonly kind: 'word' | 'not' | 'maybe'; readonly signs: readonly number[] }

interface Rule<Kind> {
  readonly kind: Kind
  readonly terms: readonly Term[]
}

const widestGap = 8
const plain: Readonly<Record<string, Term>> = {
  _: { kind: 'any' },
  '_?': { kind: 'gap', most: 1 },
  '^': { kind: 'start' },
  $: { kind: 'clause' },
  $$: { kind: 'end' },
}

function toTerm(written: string): Term {
  const own = plain[written]
  if (own) return own
  if (written.startsWith('..')) return { kind: 'gap', most: Number(written.slice(2) || widestGap) }
  const kind = written.startsWith('!') ? 'not' : written.endsWith('?') && written.length > 1 ? 'maybe' : 'word'
  const words = kind === 'not' ? written.slice(1) : kind === 'maybe' ? written.slice(0, -1) : written
  return { kind, signs: signsOfTerm(words) }
}

/** Rules of several kinds, found in one pass over a text. */
export class Phrases<Kind extends string> {
  /** by the sign of their first word; those that may begin with any word are tried everywhere */
  readonly #rules = new Map<number, Rule<Kind>[]>()

  /** Takes rules, separated by semicolons and line ends. */
  constructor(table: Readonly<Record<Kind, string>>) {
    for (const [kind, rules] of Object.entries<string>(table)) {
      for (const written of rules.split(/;\s|\n/)) {
        const terms = wordsOf(written).map(toTerm)
        if (terms.length > 0) this.#add({ kind: kind as Kind, terms })
      }
    }
  }

  #add(rule: Rule<Kind>): void {
    for (const sign of firstSigns(rule.terms)) getOrMake(this.#rules, sign, () => []).push(rule)
  }

  /** Returns the kinds of rules that hold anywhere in a text. */
  find(reading: Reading): ReadonlySet<Kind> {
    const { tokens, marks } = reading
    const present = new Set(marks.flatMap((own) => own.map(({ sign }) => sign))).add(anyWord)
    // a rule is tried where its first word is, if all its words are somewhere
    const open = new Map([...present].map((sign) => [sign, this.#rulesOf(sign, present)]))
    const found = new Set<Kind>()
    const tryAt = (at: number, sign: number): void => {
      for (const { kind, terms } of open.get(sign)!)
        if (!found.has(kind) && holds(terms, 0, reading, at)) found.add(kind)
    }
    for (let at = 0; at < tokens.length; at++) {
      tryAt(at, anyWord)
      for (const { sign } of marks[at]!) tryAt(at, sign)
    }
    return found
  }

  #rulesOf(sign: number, present: ReadonlySet<number>): readonly Rule<Kind>[] {
    const isThere = (term: Term): boolean => term.kind !== 'word' || term.signs.some((own) => present.has(own))
    return (this.#rules.get(sign) ?? []).filter(({ terms }) => terms.every(isThere))
  }
}

const anyWord = signOf('_')

/** Returns the signs with one of which what these terms describe begins. */
function firstSigns(terms: readonly Term[]): number[] {
  const signs = new Set<number>()
  for (const term of terms) {
    if (term.kind === 'any' || term.kind === 'gap') return [anyWord]
    if (term.kind === 'word' || term.kind === 'maybe') for (const sign of term.signs) signs.add(sign)
    if (term.kind === 'word') return [...signs]
  }
  return [anyWord]
}

function holds(terms: readonly Term[], from: number, reading: Reading, at: number): boolean {
  const term = terms[from]
  if (term === undefined) return true
  const go = (end: number): boolean => holds(terms, from + 1, reading, end)
  switch (term.kind) {
    case 'start':
      return reading.beginsClause(at) && go(at)
    case 'clause':
      return reading.endsClause(at) && go(at)
    case 'end':
      return sentenceEnds.has(reading.tokens[at] ?? '.') && go(at)
    case 'any':
      return at < reading.tokens.length && go(at + 1)
    case 'gap':
      return holdsWithin(term.most, reading, at, go)
    case 'not':
      return !reading.isAt(at, term.signs) && go(at)
    default:
      return (term.kind === 'maybe' && go(at)) || reading.endsOf(at, term.signs).some(go)
  }
}

function holdsWithin(most: number, { tokens }: Reading, at: number, go: (end: number) => boolean): boolean {
  for (let skipped = 0; skipped <= most; skipped++) {
    if (go(at + skipped)) return true
    if (sentenceEnds.has(tokens[at + skipped] ?? '.')) return false
  }
  return false
}
