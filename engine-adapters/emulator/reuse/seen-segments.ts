import { createHash } from 'node:crypto'
import { type LruItem, LruList } from '../cache/lru-list.ts'

/** A stretch of a prompt, in tokens; `end` is exclusive. */
export interface TokenRun {
  readonly start: number
  readonly end: number
}

/** Tokens that were computed one behind the other. */
interface Segment extends LruItem<Segment> {
  /** of its tenant's salt: tenants find nothing of each other's */
  readonly seed: number
  readonly tokens: Uint32Array
}

interface Place {
  readonly segment: Segment
  readonly at: number
}

interface FoundRun extends TokenRun {
  end: number
  readonly segments: Segment[]
}

/** Segments are found by these: of any 31 tokens of a segment 16 begin at a multiple of 16. */
const gramTokens = 16
/** A shorter run is not worth what it takes to find its place. */
const shortestRun = 2 * gramTokens
/** What is kept and evicted at once. */
const longestSegment = 512

/**
 * The tokens that an engine has computed, found by their content wherever they stand: any run of 32 tokens and more of
 * what was computed at once. Bounded in tokens; the segments that were not used for the longest time go first.
 */
export class SeenSegments {
  readonly #capacityTokens: number
  readonly #grams = new Map<number, Place>()
  readonly #used = new LruList<Segment>()
  #tokens = 0

  constructor(capacityTokens: number) {
    this.#capacityTokens = capacityTokens
  }

  /** Tokens that are kept. */
  get size(): number {
    return this.#tokens
  }

  /** The runs of a stretch of a prompt that were seen before, in order. */
  find(salt: string, tokens: Uint32Array, within: TokenRun): TokenRun[] {
    return this.#find(seedOf(salt), tokens, within)
  }

  /** Tokens were computed: what of them was seen before is the most recently used, and the rest is kept. */
  note(salt: string, tokens: Uint32Array): void {
    const seed = seedOf(salt)
    let at = 0
    for (const { start, end, segments } of this.#find(seed, tokens, { start: 0, end: tokens.length })) {
      for (const segment of segments) this.#use(segment)
      this.#keep(seed, tokens.subarray(at, start))
      at = end
    }
    this.#keep(seed, tokens.subarray(at))
    while (this.#tokens > this.#capacityTokens) this.#forget(this.#used.oldest!)
  }

  /** Forgets everything. */
  clear(): void {
    while (this.#used.oldest) this.#forget(this.#used.oldest)
  }

  #find(seed: number, tokens: Uint32Array, { start, end }: TokenRun): FoundRun[] {
    const runs: FoundRun[] = []
    for (let at = start; at + gramTokens <= end; ) {
      const piece = this.#pieceAt(seed, tokens, at, { start: runs.at(-1)?.end ?? start, end })
      const last = runs.at(-1)
      if (!piece) at += 1
      else if (last?.end === piece.start) {
        last.end = piece.end
        last.segments.push(...piece.segments)
      } else runs.push(piece)
      at = piece?.end ?? at
    }
    return runs.filter((run) => run.end - run.start >= shortestRun)
  }

  /** What is known around the gram at a place, within bounds. */
  #pieceAt(seed: number, tokens: Uint32Array, at: number, bounds: TokenRun): FoundRun | undefined {
    const place = this.#grams.get(hashOf(seed, tokens, at))
    if (!place || place.segment.seed !== seed) return undefined
    const { segment } = place
    // where the place in the prompt and the place in the segment are the same
    const shift = at - place.at
    let end = at
    while (end < bounds.end && end - shift < segment.tokens.length && tokens[end] === segment.tokens[end - shift]) end++
    if (end - at < gramTokens) return undefined
    let start = at
    while (start > bounds.start && start > shift && tokens[start - 1] === segment.tokens[start - 1 - shift]) start--
    return { start, end, segments: [segment] }
  }

  #keep(seed: number, tokens: Uint32Array): void {
    for (let start = 0; start + gramTokens <= tokens.length; start += longestSegment) {
      const own = tokens.slice(start, start + longestSegment)
      const segment = { seed, tokens: own, older: undefined, newer: undefined }
      this.#used.append(segment)
      this.#tokens += own.length
      eachGram(segment, (gram, at) => this.#grams.set(gram, { segment, at }))
    }
  }

  #use(segment: Segment): void {
    this.#used.remove(segment)
    this.#used.append(segment)
  }

  #forget(segment: Segment): void {
    this.#used.remove(segment)
    this.#tokens -= segment.tokens.length
    eachGram(segment, (gram) => {
      if (this.#grams.get(gram)?.segment === segment) this.#grams.delete(gram)
    })
  }
}

function eachGram({ seed, tokens }: Segment, visit: (gram: number, at: number) => void): void {
  for (let at = 0; at + gramTokens <= tokens.length; at += gramTokens) visit(hashOf(seed, tokens, at), at)
}

/** Different grams may have one hash: whoever finds by it compares. */
function hashOf(seed: number, tokens: Uint32Array, at: number): number {
  let hash = seed
  for (let i = at; i < at + gramTokens; i++) {
    hash = Math.imul(hash ^ tokens[i]!, 0x9e3779b1)
    hash ^= hash >>> 15
  }
  return hash
}

function seedOf(salt: string): number {
  return createHash('sha256').update(salt).digest().readInt32LE()
}
