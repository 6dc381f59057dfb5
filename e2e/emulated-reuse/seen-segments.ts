import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'

/** A stretch of a prompt, in tokens; `end` is exclusive. */
interface TokenRun {
  readonly start: number
  readonly end: number
}

/** Consecutive tokens that were computed together. */
interface Segment {
  /** hash of the tenant's salt: tenants never find each other's segments */
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

/** Segments are found by grams of this length: any 31 tokens of a segment contain 16 that begin at a multiple of 16. */
const gramTokens = 16
/** A shorter run is not worth the cost of placing it. */
const shortestRun = 2 * gramTokens
/** The most tokens that are kept and evicted as one unit. */
const longestSegment = 512

/**
 * The tokens that an engine has computed, found by their content at any position: any run of at least 32 tokens that
 * were computed together. Bounded in tokens; the least recently used segments are evicted first.
 */
export class SeenSegments {
  readonly #grams = new Map<number, Place>()
  readonly #segments: LRUCache<Segment, Segment>

  constructor(capacityTokens: number) {
    this.#segments = new LRUCache({
      maxSize: capacityTokens,
      sizeCalculation: ({ tokens }) => tokens.length,
      dispose: (segment) => this.#forgetGrams(segment),
    })
  }

  /** The number of kept tokens. */
  get size(): number {
    return this.#segments.calculatedSize
  }

  /** Finds the runs within a stretch of a prompt that were seen before, in order. */
  find(salt: string, tokens: Uint32Array, within: TokenRun): TokenRun[] {
    return this.#find(seedOf(salt), tokens, within)
  }

  /** Records computed tokens: segments that were seen before become the most recently used, and the rest is kept. */
  note(salt: string, tokens: Uint32Array): void {
    const seed = seedOf(salt)
    const runs = this.#find(seed, tokens, { start: 0, end: tokens.length })
    for (const segment of runs.flatMap(({ segments }) => segments)) this.#segments.get(segment)
    let at = 0
    for (const { start, end } of runs) {
      this.#keep(seed, tokens.subarray(at, start))
      at = end
    }
    this.#keep(seed, tokens.subarray(at))
  }

  /** Forgets everything. */
  clear(): void {
    this.#segments.clear()
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

  /** The known run around the gram at `at`, within `bounds`; undefined if the gram is unknown. */
  #pieceAt(seed: number, tokens: Uint32Array, at: number, bounds: TokenRun): FoundRun | undefined {
    const place = this.#grams.get(hashOf(seed, tokens, at))
    if (!place || place.segment.seed !== seed) return undefined
    const { segment } = place
    // the offset between positions in the prompt and in the segment
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
      const segment = { seed, tokens: tokens.slice(start, start + longestSegment) }
      this.#segments.set(segment, segment)
      // one that is larger than the whole capacity is not kept
      if (this.#segments.has(segment)) eachGram(segment, (gram, at) => this.#grams.set(gram, { segment, at }))
    }
  }

  #forgetGrams(segment: Segment): void {
    eachGram(segment, (gram) => {
      if (this.#grams.get(gram)?.segment === segment) this.#grams.delete(gram)
    })
  }
}

function eachGram({ seed, tokens }: Segment, visit: (gram: number, at: number) => void): void {
  for (let at = 0; at + gramTokens <= tokens.length; at += gramTokens) visit(hashOf(seed, tokens, at), at)
}

/** Different grams may have the same hash: a match must be compared. */
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
