/** The labels of one list of blocks: as sent to the engine → as received from the caller. */
export interface ListLabels {
  /** What is said in front of the number: nothing for `[3]`, `Doc_` for `[Doc_3]`, `Document ` for `Document 3:`. */
  readonly prefix: string
  /** Labels that stayed need not be there. */
  readonly labels: ReadonlyMap<string, string>
}

/** The position labels of a prompt's lists, in the order of the prompt. */
export type CitationMap = readonly ListLabels[]

/** A prefix in the forms it is written in. */
export interface Prefix {
  /** by which labels are looked up */
  readonly key: string
  readonly initials: readonly [string, string]
  readonly rest: string
  /** `Documents 1 and 3`; undefined when no word ends the prefix */
  readonly plural: string | undefined
}

/**
 * Translates labels as sent into labels as received. Of several lists with the same prefix the last one that has the
 * label counts, as the one the question stands behind.
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
    const words = [...this.#byPrefix.keys()].filter((key) => /^\p{L}/u.test(key))
    this.prefixes = words.sort((a, b) => b.length - a.length).map(toPrefix)
    if (!this.#byPrefix.has('')) this.#byPrefix.set('', onlyOf(this.#byPrefix))
  }

  /** Whether no label would change. */
  get isIdentity(): boolean {
    return [...this.#byPrefix.values()].every((labels) => [...labels].every(([sent, received]) => sent === received))
  }

  /** The caller's label; undefined when it is not known. */
  translate(key: string, label: string): string | undefined {
    return this.#byPrefix.get(key)?.get(label)
  }
}

/** Models cite `Document 3:` as `[3]` as well: without a list of bare numbers, those of the only other list are meant. */
function onlyOf(lists: ReadonlyMap<string, Map<string, string>>): Map<string, string> {
  const [only, ...others] = lists.values()
  return only === undefined || others.length > 0 ? new Map() : only
}

function toKey(prefix: string): string {
  return prefix.slice(0, 1).toLowerCase() + prefix.slice(1)
}

function toPrefix(key: string): Prefix {
  const initial = key[0]!
  const plural = /^(.*\p{L})( #?)$/su.exec(key.slice(1))
  return {
    key,
    initials: [initial, initial.toUpperCase()],
    rest: key.slice(1),
    plural: plural ? `${plural[1]}s${plural[2]}` : undefined,
  }
}
