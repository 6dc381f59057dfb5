import type { ChunkColumns } from './chunk-columns.ts'
import type { Scope } from './chunk-scopes.ts'
import { ChunkSlots, mixHash } from './chunk-slots.ts'
import { anchorLength, type FoldedText } from './folded-text.ts'

/** So many places of a chunk may become its anchor: the first that no other chunk has. */
const mostTried = 48
/** Chunks with one anchor are near copies; with more, every text that holds one would be slow. */
const mostAlike = 64
/** So many anchors are looked up together: what is kept of them stays in a processor's first cache. */
const batchSize = 1_024
/** Spreads the bits of a hash over the upper ones, so that slots, tags and counts do not share any. */
const spreading = 0x9e3779b1

/** Chunks by the one anchor that each is looked up by. */
export class ChunkAnchors {
  readonly #columns: ChunkColumns
  readonly #hashOf: (chunk: number) => number
  readonly #slots: ChunkSlots
  /** how many chunks have an anchor that is not sampled, by a part of its hash */
  readonly #rare: Uint8Array
  /** a bit for each of these counts that is not 0: a text asks for thousands, which stay in a processor's cache */
  readonly #isRare: Uint32Array
  readonly #rareShift: number
  /** of a batch of look-ups */
  readonly #hashes = new Int32Array(batchSize)
  readonly #starts = new Uint32Array(batchSize)

  /** `seedOf`: that of the scope of a chunk. */
  constructor(capacity: number, columns: ChunkColumns, seedOf: (chunk: number) => number) {
    this.#columns = columns
    this.#hashOf = (chunk) => mixHash(columns.anchorOf(chunk), seedOf(chunk))
    this.#slots = new ChunkSlots(capacity, this.#hashOf)
    this.#rare = new Uint8Array(2 ** Math.ceil(Math.log2(Math.max(2, capacity))))
    this.#rareShift = Math.clz32(this.#rare.length - 1)
    this.#isRare = new Uint32Array(Math.max(1, this.#rare.length >>> 5))
  }

  /** Enters a chunk by the anchor in its columns. */
  put(chunk: number): void {
    this.#slots.put(this.#hashOf(chunk), chunk)
    this.#countRare(chunk, 1)
  }

  /** Takes a chunk out, whose columns must still be as they were. */
  remove(chunk: number): void {
    this.#slots.remove(chunk)
    this.#countRare(chunk, -1)
  }

  /**
   * Calls `onChunk` with every chunk of a scope whose anchor stands in a text, and with where it stands. Linear in the text.
   * Anchors are looked up in batches and without branches: a processor then waits for memory that its caches do not
   * hold once for many of them, and not once for each.
   */
  lookUp(text: FoldedText, scope: Scope, onChunk: (chunk: number, at: number) => void): void {
    const count = text.anchorCount
    for (let from = 0; from < count; from += batchSize) {
      const picked = this.#pick(text, scope.seed, from, Math.min(from + batchSize, count))
      const taken = this.#slots.keepTaken(this.#hashes, this.#starts, picked)
      const gathered = this.#slots.gather(this.#hashes, this.#starts, taken)
      const kept = this.#keepAlike(text, scope, gathered)
      for (let i = 0; i < kept; i += 2) onChunk(gathered[i]!, gathered[i + 1]!)
    }
  }

  /** Keeps those of chunks and places, by turns, where the chunk is of the scope and has the anchor of its place; how many. */
  #keepAlike(text: FoldedText, { number }: Scope, gathered: number[]): number {
    const columns = this.#columns
    let kept = 0
    for (let i = 0; i < gathered.length; i += 2) {
      const chunk = gathered[i]!
      const at = gathered[i + 1]!
      gathered[kept] = chunk
      gathered[kept + 1] = at
      if (columns.anchorOf(chunk) === text.anchorAt(at) && columns.scopeOf(chunk) === number) kept += 2
    }
    return kept
  }

  /** Gathers the anchors of a batch that any chunk may have: their hashes, and where they stand; how many. */
  #pick(text: FoldedText, seed: number, from: number, to: number): number {
    const isRare = this.#isRare
    const [hashes, picks] = [this.#hashes, this.#starts]
    const shift = this.#rareShift
    const { starts } = text
    let picked = 0
    for (let i = from; i < to; i++) {
      const start = starts[i]!
      const anchor = text.anchorAt(start)
      const hash = mixHash(anchor, seed)
      hashes[picked] = hash
      picks[picked] = start
      const counter = Math.imul(hash, spreading) >>> shift
      // 1, where it is sampled
      const sampled = ((Math.imul(anchor, spreading) >>> 29) - 1) >>> 31
      picked += sampled | ((isRare[counter >>> 5]! >>> (counter & 31)) & 1)
    }
    return picked
  }

  /**
   * Returns the first place of a new chunk's text whose anchor is sampled and that no chunk of the scope has, or the fewest,
   * else any such place; −1: too many have each. Sampled are an eighth of all anchors: the others are looked up only where a
   * chunk may have them.
   */
  choose(scope: Scope, text: FoldedText): number {
    // a sign in front of all is no place to be looked up at where the text has another sign in front of it
    const from = text.beginsWithSign ? 1 : 0
    const sampled = this.#chooseAmong(scope, text, true, from)
    const chosen = sampled >= 0 ? sampled : this.#chooseAmong(scope, text, false, from)
    return chosen < 0 && from > 0 ? this.#chooseAmong(scope, text, false, 0) : chosen
  }

  /** Whether a chunk with this anchor would be one of too many. */
  isCrowded(scope: Scope, anchor: number): boolean {
    return this.#countAlike(scope, anchor) >= mostAlike
  }

  #chooseAmong(scope: Scope, text: FoldedText, wantsSampled: boolean, from: number): number {
    const { starts, startCount, length } = text
    let best = -1
    let fewest = mostAlike
    let tried = 0
    for (let i = from; i < startCount && tried < mostTried && starts[i]! + anchorLength <= length; i++) {
      const anchor = text.anchorAt(starts[i]!)
      if (isSampled(anchor) !== wantsSampled) continue
      tried += 1
      const alike = this.#countAlike(scope, anchor)
      if (alike >= fewest) continue
      best = starts[i]!
      fewest = alike
      if (alike === 0) break
    }
    return best
  }

  #countAlike({ seed, number }: Scope, anchor: number): number {
    const hash = mixHash(anchor, seed)
    let count = 0
    for (let slot = this.#slots.next(hash, hash); slot >= 0; slot = this.#slots.next(hash, slot + 1)) {
      const chunk = this.#slots.at(slot)
      if (this.#columns.anchorOf(chunk) === anchor && this.#columns.scopeOf(chunk) === number) count++
    }
    return count
  }

  /** A counter that was full once stays so: look-ups are slower for it, never wrong. */
  #countRare(chunk: number, change: number): void {
    if (isSampled(this.#columns.anchorOf(chunk))) return
    const at = Math.imul(this.#hashOf(chunk), spreading) >>> this.#rareShift
    if (this.#rare[at] !== 255) this.#rare[at] = this.#rare[at]! + change
    const bit = 1 << (at & 31)
    this.#isRare[at >>> 5] = this.#rare[at] === 0 ? this.#isRare[at >>> 5]! & ~bit : this.#isRare[at >>> 5]! | bit
  }
}

/** Whether a text looks an anchor up in any case: an eighth of all. */
function isSampled(anchor: number): boolean {
  return Math.imul(anchor, spreading) >>> 29 === 0
}
