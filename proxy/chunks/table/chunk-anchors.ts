import type { ChunkColumns } from './chunk-columns.ts'
import type { Scope } from './chunk-scopes.ts'
import { ChunkSlots, mixHash } from './chunk-slots.ts'
import { anchorLength, type FoldedText } from './folded-text.ts'

/** How many places of a chunk are tried as its anchor: the first that no other chunk has becomes it. */
const mostTried = 48
/** Chunks with the same anchor are near copies; more of them would slow down every text that contains one. */
const mostAlike = 64
/** Number of anchors looked up together: what is kept of them stays in a processor's first-level cache. */
const batchSize = 1_024
/** Spreads the bits of a hash over the upper ones, so that slots, tags and counts do not use the same bits. */
const spreading = 0x9e3779b1

/** Finds chunks by the one anchor that each has. */
export class ChunkAnchors {
  readonly #columns: ChunkColumns
  readonly #hashOf: (chunk: number) => number
  readonly #slots: ChunkSlots
  /** number of chunks with an anchor that is not sampled, by a part of its hash */
  readonly #rare: Uint8Array
  /**
   * a bit for each of these counts, set if it is not 0: a text looks up thousands, and the bits fit in a processor's
   * cache
   */
  readonly #isRare: Uint32Array
  readonly #rareShift: number
  /** buffers for a batch of look-ups */
  readonly #hashes = new Int32Array(batchSize)
  readonly #starts = new Uint32Array(batchSize)

  /** `seedOf`: the seed of a chunk's scope. */
  constructor(capacity: number, columns: ChunkColumns, seedOf: (chunk: number) => number) {
    this.#columns = columns
    this.#hashOf = (chunk) => mixHash(columns.anchorOf(chunk), seedOf(chunk))
    this.#slots = new ChunkSlots(capacity, this.#hashOf)
    this.#rare = new Uint8Array(2 ** Math.ceil(Math.log2(Math.max(2, capacity))))
    this.#rareShift = Math.clz32(this.#rare.length - 1)
    this.#isRare = new Uint32Array(Math.max(1, this.#rare.length >>> 5))
  }

  /** Adds a chunk under the anchor in its columns. */
  put(chunk: number): void {
    this.#slots.put(chunk)
    this.#countRare(chunk, 1)
  }

  /** Removes a chunk; its columns must still be unchanged. */
  remove(chunk: number): void {
    this.#slots.remove(chunk)
    this.#countRare(chunk, -1)
  }

  /**
   * Calls `onChunk` with every chunk of a scope whose anchor is in a text, and with the place of that anchor. Linear in
   * the text. Anchors are looked up in batches and without branches: a processor then waits for memory outside its
   * caches once for many of them, not once for each.
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

  /**
   * Filters alternating chunks and places: keeps those where the chunk is of the scope and has the anchor at this
   * place. Returns how many entries are kept.
   */
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

  /** Collects the anchors of a batch that any chunk may have: their hashes and their places. Returns how many. */
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
      // 1 if it is sampled
      const sampled = ((Math.imul(anchor, spreading) >>> 29) - 1) >>> 31
      picked += sampled | ((isRare[counter >>> 5]! >>> (counter & 31)) & 1)
    }
    return picked
  }

  /**
   * Chooses the anchor of a new chunk and returns its place: the first sampled anchor that no chunk of the scope has,
   * or else the one that the fewest have. If no sampled anchor will do, one that is not sampled is chosen the same way.
   * Returns −1 if too many chunks have each. An eighth of all anchors is sampled; the others are looked up only if a
   * chunk may have them.
   */
  choose(scope: Scope, text: FoldedText): number {
    // skip a leading symbol: a text that has another symbol before it does not look up the anchor there
    const from = text.beginsWithSign ? 1 : 0
    const sampled = this.#chooseAmong(scope, text, true, from)
    const chosen = sampled >= 0 ? sampled : this.#chooseAmong(scope, text, false, from)
    return chosen < 0 && from > 0 ? this.#chooseAmong(scope, text, false, 0) : chosen
  }

  /** Whether too many chunks already have this anchor. */
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

  /** Updates the counts. A counter that was ever full stays full: look-ups become slower, never wrong. */
  #countRare(chunk: number, change: number): void {
    if (isSampled(this.#columns.anchorOf(chunk))) return
    const at = Math.imul(this.#hashOf(chunk), spreading) >>> this.#rareShift
    if (this.#rare[at] !== 255) this.#rare[at] = this.#rare[at]! + change
    const bit = 1 << (at & 31)
    this.#isRare[at >>> 5] = this.#rare[at] === 0 ? this.#isRare[at >>> 5]! & ~bit : this.#isRare[at >>> 5]! | bit
  }
}

/** Whether texts always look up this anchor: true for an eighth of all. */
function isSampled(anchor: number): boolean {
  return Math.imul(anchor, spreading) >>> 29 === 0
}
