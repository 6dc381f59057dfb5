import { DigestSet } from './digest-set.ts'
import { findSpanEnds } from './find-spans.ts'
import { mix, wordsOf } from './stand-in-tokens.ts'

/** Spans remembered in each of two generations: 8 MB, and 20 million characters of text. */
const defaultCapacity = 1 << 18

/** How much of the given texts was seen before, in UTF-16 units. */
export interface SeenCharacters {
  readonly seen: number
  readonly all: number
}

/**
 * Remembers what prompts contained, wherever it was: the spans of their texts (`find-spans.ts`), by digests of 63 bits.
 * What a tenant repeats is found whatever surrounds it, except for the spans at its edges; tenants are kept apart.
 * Bounded: what was not seen for longest is forgotten.
 */
export class SeenSpans {
  readonly #secret: number
  #recent: DigestSet
  #older: DigestSet

  /** `secret`: keeps anyone from choosing texts with equal digests. */
  constructor(secret: number, capacity: number = defaultCapacity) {
    this.#secret = secret
    this.#recent = new DigestSet(capacity)
    this.#older = new DigestSet(capacity)
  }

  /** Counts what a tenant sent in earlier requests, and remembers the rest. What a request repeats itself is new. */
  note(tenant: string, texts: readonly string[]): SeenCharacters {
    const seed = hashOf(tenant, this.#secret)
    // in pairs of halves; remembered only at the end, so that this request does not find itself
    const fresh: number[] = []
    let [seen, all] = [0, 0]
    for (const text of texts) {
      seen += this.#countSeen(text, seed, fresh)
      all += text.length
    }
    for (let i = 0; i < fresh.length; i += 2) this.#remember(fresh[i]!, fresh[i + 1]!)
    return { seen, all }
  }

  /** Returns how many characters of a text were seen; adds the digests of the spans to remember to `fresh`. */
  #countSeen(text: string, seed: number, fresh: number[]): number {
    // every span begins at a number of one of the two
    const words = [wordsOf(text, 0), wordsOf(text, 1)] as const
    let [seen, start] = [0, 0]
    for (const end of findSpanEnds(text)) {
      if (this.#isSeen(words[(start & 1) as 0 | 1], text, start, end, seed, fresh)) seen += end - start
      start = end
    }
    return seen
  }

  /** Returns whether the characters from `start` to `end` were seen before. Adds their digest to `fresh` if needed. */
  #isSeen(words: Int32Array, text: string, start: number, end: number, seed: number, fresh: number[]): boolean {
    const first = (start + 1) >> 1
    const behind = first + ((end - start) >> 1)
    let [high, low] = [seed, ~seed]
    for (let i = first; i < behind; i++) {
      const word = words[i]!
      high = mix(high, word)
      low = Math.imul(low + word, 0x85ebca6b) ^ (low >>> 13)
    }
    if ((end - start) % 2 === 1) {
      high = mix(high, text.charCodeAt(end - 1))
      low = Math.imul(low + high, 0x85ebca6b)
    }
    // the set looks at the lowest bits first
    high ^= high >>> 15
    low ^= low >>> 11
    if (this.#recent.has(high, low)) return true
    fresh.push(high, low)
    return this.#older.has(high, low)
  }

  #remember(high: number, low: number): void {
    if (this.#recent.has(high, low)) return
    if (this.#recent.isFull) {
      const forgotten = this.#older
      this.#older = this.#recent
      this.#recent = forgotten
      this.#recent.clear()
    }
    this.#recent.add(high, low)
  }
}

function hashOf(text: string, seed: number): number {
  let hash = seed
  for (let i = 0; i < text.length; i++) hash = mix(hash, text.charCodeAt(i))
  return hash
}
