import { foldCase, type Required, requiredBy, requiredByEach } from './required-literals.ts'

/** An expression that is built only when a text holds one of those that it requires. */
interface Guarded extends Required {
  pattern: RegExp | undefined
  /** the last scan that found such a text */
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
    this.#alternatives ??= requiredByEach(this.#source, flags).map(guard)
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
    this.#whole ??= guard(requiredBy(this.#source, this.#flags))
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

/** A character of a text that expressions need, by those in front of it. */
class TrieNode {
  readonly next: Map<number, TrieNode> = new Map()
  /** expressions that need the text that ends here */
  readonly users: Guarded[] = []
  /** the last scan that found it */
  foundIn = 0
}

/** Finds the texts that expressions need, all in one pass: from each character on, along a trie. */
class Scan {
  readonly #root = new TrieNode()
  #count = 0
  #text: string | undefined
  #folded: string | undefined

  /** From now on, scans look for what an expression needs. */
  add(guarded: Guarded): void {
    for (const text of guarded.literals ?? []) {
      let node = this.#root
      for (let i = 0; i < text.length; i++) {
        const code = text.charCodeAt(i)
        const next = node.next.get(code) ?? new TrieNode()
        node.next.set(code, next)
        node = next
      }
      node.users.push(guarded)
    }
    this.#text = undefined
    this.#folded = undefined
  }

  /** Returns whether a text holds what an expression needs. Several questions about one text cost a single pass. */
  holds(text: string, guarded: Guarded): boolean {
    // it has to be tried on every text
    if (guarded.literals === undefined) return true
    if (text !== this.#text) this.#scan(text)
    return guarded.foundIn === this.#count
  }

  #scan(text: string): void {
    this.#text = text
    const folded = foldCase(text)
    if (folded === this.#folded) return
    this.#folded = folded
    this.#count += 1
    for (let start = 0; start < folded.length; start++) {
      let node = this.#root.next.get(folded.charCodeAt(start))
      for (let at = start + 1; node !== undefined; at++) {
        if (node.users.length > 0 && node.foundIn !== this.#count) this.#find(node)
        node = at < folded.length ? node.next.get(folded.charCodeAt(at)) : undefined
      }
    }
  }

  #find(node: TrieNode): void {
    node.foundIn = this.#count
    for (const user of node.users) user.foundIn = this.#count
  }
}

const scan = new Scan()

function guard(required: Required): Guarded {
  const guarded: Guarded = { ...required, pattern: undefined, foundIn: 0 }
  scan.add(guarded)
  return guarded
}
