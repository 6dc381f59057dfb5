/** How the labels of a list are written. */
export interface LabelForm {
  /** What precedes the number: nothing for `[3]`, `Doc_` for `[Doc_3]`, `Document ` for `Document 3:`. */
  readonly prefix: string
  /** The name of the tag whose attribute the label is: `passage` for `<passage id="3">`. */
  readonly tag?: string | undefined
  /** The labels are `(3)`. */
  readonly isInParentheses?: boolean | undefined
}

/** The labels of one list of blocks: as sent to the engine → as received from the caller. */
interface ListLabels extends LabelForm {
  /** Unchanged labels may be omitted. */
  readonly labels: ReadonlyMap<string, string>
  /** What else models write before the number, unless another list is cited that way: `Doc ` for `Document 3:`. */
  readonly aliases?: readonly string[]
}

/** The position labels of a prompt's lists, in the order of the prompt. */
export type CitationMap = readonly ListLabels[]

/** `Document 3` can only be a citation; `memory 3` may be anything. */
const plainWord = /^(?:document|doc|passage|source|reference) $/

/** A prefix in the forms it is written in. */
export interface Prefix {
  /** the key to look labels up by */
  readonly key: string
  readonly initials: readonly [string, string]
  readonly rest: string
  /** `Documents 1 and 3`; undefined when no word ends the prefix */
  readonly plural: string | undefined
  /** the word is too common in other uses: it cites in brackets only */
  readonly isBracketed: boolean
}

/**
 * Translates labels as sent into labels as received. If several lists with the same prefix have the label, the last one
 * counts, since the question follows it.
 */
export class CitationLabels {
  /** The prefixes that are words, longest first. */
  readonly prefixes: readonly Prefix[]
  readonly #byPrefix = new Map<string, Map<string, string>>()

  constructor(map: CitationMap) {
    for (const { prefix, labels } of map) {
      const key = toKey(prefix)
      const merged = this.#byPrefix.get(key) ?? new Map<string, string>()
      for (const [sent, received] of labels) merged.set(sent, received)
      this.#byPrefix.set(key, merged)
    }
    const bare = this.#byPrefix.get('') ?? onlyOf(this.#byPrefix)
    const aliases = aliasesOf(map, this.#byPrefix)
    for (const [alias, labels] of aliases) this.#byPrefix.set(alias, labels)
    const words = [...this.#byPrefix.keys()].filter((key) => /^\p{L}/u.test(key))
    this.prefixes = words
      .sort((a, b) => b.length - a.length)
      .map((key) => toPrefix(key, aliases.has(key) && !plainWord.test(key)))
    this.#byPrefix.set('', bare)
  }

  /** Whether no label would change. */
  get isIdentity(): boolean {
    return [...this.#byPrefix.values()].every((labels) => [...labels].every(([sent, received]) => sent === received))
  }

  /** Returns the caller's label; undefined if it is not known. */
  translate(key: string, label: string): string | undefined {
    return this.#byPrefix.get(key)?.get(label)
  }

  /**
   * Returns the caller's labels for `1-3`, as a range if they form one, else as a list; undefined if one is not known.
   */
  translateRange(key: string, range: string): string | undefined {
    const [, first, sign, last] = /^(\d+)(\D+)(\d+)$/.exec(range) ?? []
    const [from, to] = [Number(first), Number(last)]
    if (!(from < to && to - from < longestRange)) return undefined
    const received: number[] = []
    for (let label = from; label <= to; label++) {
      const translated = this.translate(key, String(label))
      if (translated === undefined || !/^\d+$/.test(translated)) return undefined
      received.push(Number(translated))
    }
    received.sort((a, b) => a - b)
    const [lowest, highest] = [received[0]!, received.at(-1)!]
    return highest - lowest === to - from ? `${lowest}${sign}${highest}` : received.join(', ')
  }
}

/** longer ranges are not citations */
const longestRange = 16

/** Models also cite `Document 3:` as `[3]`: without a list of bare numbers, this means the only other list. */
function onlyOf(lists: ReadonlyMap<string, Map<string, string>>): Map<string, string> {
  const [only, ...others] = lists.values()
  return only === undefined || others.length > 0 ? new Map() : only
}

/** Returns the other words for lists, except those that could mean two lists. */
function aliasesOf(
  map: CitationMap,
  lists: ReadonlyMap<string, Map<string, string>>,
): Map<string, Map<string, string>> {
  const owners = new Map<string, Set<string>>()
  for (const { prefix, aliases = [] } of map) {
    for (const alias of aliases) {
      const key = toKey(alias)
      owners.set(key, (owners.get(key) ?? new Set()).add(toKey(prefix)))
    }
  }
  const own = [...owners].filter(([alias, prefixes]) => prefixes.size === 1 && !lists.has(alias))
  return new Map(own.map(([alias, [prefix]]) => [alias, lists.get(prefix!)!]))
}

function toKey(prefix: string): string {
  return prefix.slice(0, 1).toLowerCase() + prefix.slice(1)
}

function toPrefix(key: string, isBracketed: boolean): Prefix {
  const initial = key[0]!
  const plural = /^(.*\p{L})( #?)$/su.exec(key.slice(1))
  return {
    key,
    initials: [initial, initial.toUpperCase()],
    rest: key.slice(1),
    plural: plural ? `${plural[1]}s${plural[2]}` : undefined,
    isBracketed,
  }
}
