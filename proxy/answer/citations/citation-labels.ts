import { isSpokenNoun, NO_SPACES, type NounUse, readLastNoun, toFamily } from './citation-nouns.ts'

/** How the labels of a list are written. */
export interface LabelForm {
  /** What precedes the number: nothing for `[3]`, `Doc_` for `[Doc_3]`, `Document ` for `Document 3:`. */
  readonly prefix: string
  /** The name of the tag whose attribute the label is: `passage` for `<passage id="3">`. */
  readonly tag?: string | undefined
  /** The nouns by which the prompt may call the blocks, as `readSpokenNouns` reads them. */
  readonly names?: readonly string[] | undefined
  /** The labels are `(3)`. */
  readonly isInParentheses?: boolean | undefined
}

/** The labels of one list of blocks: as sent to the engine → as received from the caller. */
interface ListLabels extends LabelForm {
  /** All labels of the list, also those that do not change. */
  readonly labels: ReadonlyMap<string, string>
}

/** The position labels of a prompt's lists, in the order of the prompt. */
export type CitationMap = readonly ListLabels[]

/** As sent → as received. */
export type Labels = ReadonlyMap<string, string>

/** The lists with one prefix. */
interface LabelGroup {
  labels: Labels
  /** what lists call their blocks, in the form that nouns are compared in */
  readonly families: Set<string>
}

/** A word for the blocks of a list, as a text ends with it. */
export interface Name {
  /** the labels of the list that is meant; undefined if several may be meant */
  readonly cited: Labels | undefined
  readonly use: NounUse
  readonly isPlural: boolean
  readonly length: number
  /** a list is called so */
  readonly isOwn?: boolean
}

const longestRange = 16
// the sign of a range that was written as a list can be told from the space: `[4–5]` ↔ `[2, 7]` with an en space
const rangeSpaces: ReadonlyMap<string, string> = new Map([
  ['-', '\u2009'],
  ['–', '\u2002'],
  ['—', '\u2003'],
  [' to ', '\u2004'],
  [' through ', '\u2005'],
])
const rangeText = /^(\d+)(-|–|—| to | through )(\d+)$/
const listText = /^\d+,([\u2002-\u2005\u2009])\d+(?:,\1\d+)*$/
const partOfName = /[\p{L}\p{M}\p{N}_/\\.@$=&?%+-]$/u

/**
 * Translates labels as sent into labels as received. If several lists with the same prefix have the label, the last one
 * counts, since the question follows it.
 */
export class CitationLabels {
  readonly isInParentheses: boolean
  /** the labels of bare numbers; undefined if several lists may be meant */
  readonly bare: Labels | undefined
  readonly #groups: readonly LabelGroup[]
  readonly #prefixes: readonly (readonly [name: string, labels: Labels])[]
  readonly #nouns: readonly string[]
  readonly #names: ReadonlySet<string>

  constructor(map: CitationMap) {
    const groups = new Map<string, LabelGroup>()
    const nouns = new Set<string>()
    for (const { prefix, tag, labels } of map) {
      const known = groups.get(prefix)
      const group = known ?? { labels, families: new Set<string>() }
      groups.set(prefix, group)
      if (known) known.labels = new Map([...known.labels, ...labels])
      for (const noun of [tag, nounOf(prefix)]) {
        if (noun === undefined) continue
        nouns.add(noun.toLowerCase())
        group.families.add(toFamily(noun))
      }
    }
    this.#groups = [...groups.values()]
    this.bare = groups.get('')?.labels ?? onlyOf(this.#groups)?.labels
    this.#prefixes = [...groups].flatMap(([prefix, { labels }]) =>
      prefix === '' ? [] : [prefix, prefix.replaceAll('_', '\\_')].map((name) => [name, labels] as const),
    )
    this.#nouns = [...nouns].flatMap((noun) => [noun, `${noun}s`])
    this.#names = new Set(map.flatMap(({ names = [] }) => names))
    this.isInParentheses = map.some((list) => list.isInParentheses)
  }

  /** Whether no label would change. */
  get isIdentity(): boolean {
    for (const { labels } of this.#groups) for (const [sent, received] of labels) if (sent !== received) return false
    return true
  }

  /** Whether any list has this label. */
  has(label: string): boolean {
    return this.#groups.some(({ labels }) => labels.has(label))
  }

  /** Returns the prefix of a list that `text` ends with. */
  prefixAt(text: string): Name | undefined {
    const found = this.#prefixes.find(([name]) => endsWithName(text, name))
    return found && { cited: found[1], use: 'citing', isPlural: false, length: found[0].length, isOwn: true }
  }

  /** Returns the noun for blocks that `text` ends with: a list's own, or any other. */
  nounAt(text: string): Name | undefined {
    const own = this.#nouns.find((name) => endsWithName(text, name))
    if (own !== undefined) {
      const { length } = own
      return { cited: this.#labelsOf(toFamily(own)), use: 'citing', isPlural: /[^s]s$/.test(own), length, isOwn: true }
    }
    const found = readLastNoun(text)
    if (found === undefined) return undefined
    // `article 3` of a law, unless the prompt calls its blocks so
    const use = found.use === 'spoken' && !isSpokenNoun(found.noun, this.#names) ? 'bracketed' : found.use
    return { ...found, use, cited: this.#labelsOf(found.noun), isOwn: this.#listsOf(found.noun).length > 0 }
  }

  /** Returns the labels of the list that a noun means; undefined if several may be meant. */
  #labelsOf(family: string): Labels | undefined {
    const own = this.#listsOf(family)
    return onlyOf(own.length > 0 ? own : this.#groups)?.labels
  }

  #listsOf(family: string): readonly LabelGroup[] {
    return this.#groups.filter(({ families }) => families.has(family))
  }
}

/**
 * Returns the caller's number for `3`, or numbers for `1–3`: again as a range if they form one, else as a list. Returns
 * undefined if not all of them are labels. Applied with the inverse map, it restores what was there.
 */
export function translate(labels: Labels, label: string): string | undefined {
  const [, first, sign, last] = rangeText.exec(label) ?? []
  const space = sign === undefined ? listText.exec(label)?.[1] : rangeSpaces.get(sign)
  if (space === undefined) return labels.get(label)
  const numbers = sign === undefined ? label.split(`,${space}`) : numbersOf(Number(first), Number(last))
  const received = numbers.map((number) => Number(labels.get(number)))
  if (received.length === 0 || received.some(Number.isNaN)) return undefined
  const sorted = received.toSorted((a, b) => a - b)
  if (sorted.every((number, i) => number === sorted[0]! + i)) {
    const [as] = [...rangeSpaces].find(([, own]) => own === space)!
    return `${sorted[0]}${as}${sorted.at(-1)}`
  }
  return (sign === undefined ? received : sorted).join(`,${space}`)
}

/** Returns the numbers of a range; none if it is none, or longer than people write. */
function numbersOf(from: number, to: number): string[] {
  if (from >= to || to - from >= longestRange) return []
  return Array.from({ length: to - from + 1 }, (_, i) => String(from + i))
}

function onlyOf<T>(all: readonly T[]): T | undefined {
  return all.length === 1 ? all[0] : undefined
}

/** Returns the words of a prefix without what separates them from the number: `source` for `Source ID: `. */
function nounOf(prefix: string): string | undefined {
  return /^(\p{L}[\p{L}\p{M} ]*?)(?:[ _-](?:id|no|nr|number|index))?[^\p{L}\p{M}]*$/iu.exec(prefix)?.[1]
}

/** Whether `text` ends with a name that is no part of a longer one; short names are codes, whose case counts. */
function endsWithName(text: string, name: string): boolean {
  const end = text.slice(-name.length)
  const isEqual = name.length > 2 ? end.toLowerCase() === name.toLowerCase() : end === name
  if (!isEqual) return false
  const before = text.slice(0, -name.length)
  return !/^[a-z]/i.test(name) || !partOfName.test(before.slice(-2)) || NO_SPACES.test(before)
}
