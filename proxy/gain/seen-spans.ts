import { digestOf } from '#index/context-block.ts'
import { findSpanEnds } from '#index/find-spans.ts'
import type { PromptPart } from '../reuse/two-worlds.ts'
import { hashOf, mix, mixOther, pairAt } from './mix.ts'

/** Spans remembered: 4 MB, and some 60 million characters of text. A power of two. */
const defaultCapacity = 1 << 20
/** Places of the table that a digest may have: the span seen first is forgotten for a new one. */
const ways = 8
/** Text of at least this length is looked up as a whole first, like a block: reading its spans takes ten times as long. */
const longText = 1_024

/** How much of the given texts was seen before, in UTF-16 units. */
export interface SeenCharacters {
  readonly seen: number
  readonly all: number
}

/** Spans of texts: their lengths in UTF-16 units, and the two halves of each digest. */
interface Spans {
  readonly lengths: number[]
  readonly digests: number[]
}

/**
 * Remembers what prompts contained, wherever it was: the spans of their texts (`find-spans.ts`), by digests of 48 bits.
 * What a tenant repeats is found whatever surrounds it, except for the spans at its edges; tenants are kept apart.
 * Bounded, in one table: of the spans that share a few places in it, what was seen first is forgotten.
 */
export class SeenSpans {
  readonly #secret: number
  /** halves of digests, the latest of each `ways` first; 0: none */
  readonly #table: Int32Array

  /** `secret`: keeps anyone from choosing texts with equal digests. */
  constructor(secret: number, capacity: number = defaultCapacity) {
    this.#secret = secret
    this.#table = new Int32Array(Math.max(ways, capacity))
  }

  /** Counts what a tenant sent in earlier requests, and remembers the rest. What a request repeats itself is new. */
  note(tenant: string, parts: readonly PromptPart[]): SeenCharacters {
    const seed = hashOf(tenant, this.#secret)
    // all digests come first: look-ups without other work in between wait for memory at the same time
    const spans: Spans = { lengths: [], digests: [] }
    for (const part of parts) this.#addPart(part, seed, spans)
    const { lengths, digests } = spans
    const fresh: number[] = []
    let [seen, all] = [0, 0]
    for (let i = 0; i < lengths.length; i++) {
      if (this.#has(digests[2 * i]!, digests[2 * i + 1]!)) seen += lengths[i]!
      else fresh.push(i)
      all += lengths[i]!
    }
    // remembered only now, so that this request does not find itself
    for (const i of fresh) this.#remember(digests[2 * i]!, digests[2 * i + 1]!)
    return { seen, all }
  }

  /** Adds a block or a long text that is known as a whole as one span, and the spans of anything else. */
  #addPart({ text, block }: PromptPart, seed: number, spans: Spans): void {
    const identity = block ?? (text.length < longText ? undefined : digestOf(text))
    if (identity === undefined) {
      this.#digest(text, seed, spans)
      return
    }
    const { lengths, digests } = spans
    addDigest(digests, identity, 0, identity.length, seed)
    const isKnown = this.#has(digests.at(-2)!, digests.at(-1)!)
    // of no length where its spans are counted: it is only remembered
    lengths.push(isKnown ? text.length : 0)
    if (!isKnown) this.#digest(text, seed, spans)
  }

  /** Adds the spans of a text. */
  #digest(text: string, seed: number, { lengths, digests }: Spans): void {
    let start = 0
    for (const end of findSpanEnds(text)) {
      addDigest(digests, text, start, end, seed)
      lengths.push(end - start)
      start = end
    }
  }

  #has(high: number, low: number): boolean {
    const first = this.#placeOf(high)
    for (let at = first; at < first + ways; at++) if (this.#table[at] === (low | 1)) return true
    return false
  }

  #remember(high: number, low: number): void {
    if (this.#has(high, low)) return
    const first = this.#placeOf(high)
    this.#table.copyWithin(first + 1, first, first + ways - 1)
    this.#table[first] = low | 1
  }

  #placeOf(high: number): number {
    return (high * ways) & (this.#table.length - 1)
  }
}

/** Adds the two halves of the digest of a span of a text, or of the identity of a block. */
function addDigest(digests: number[], text: string, start: number, end: number, seed: number): void {
  let [high, low] = [seed, ~seed]
  let at = start
  for (; at + 2 <= end; at += 2) {
    const pair = pairAt(text, at)
    high = mix(high, pair)
    low = mixOther(low, pair)
  }
  if (at < end) {
    high = mix(high, text.charCodeAt(at))
    low = mixOther(low, text.charCodeAt(at))
  }
  // the table looks at the lowest bits first
  digests.push(high ^ (high >>> 15), low ^ (low >>> 11))
}
