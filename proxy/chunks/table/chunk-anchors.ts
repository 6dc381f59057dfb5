import type { ChunkColumns } from './chunk-columns.ts'
import type { Scope } from './chunk-scopes.ts'
import { ChunkSlots, mixHash } from './chunk-slots.ts'
import { anchorLength, type FoldedText } from './folded-text.ts'

/** So many places of a chunk may become its anchor: the first that no other chunk has. */
const mostTried = 48
/** Chunks with one anchor are near copies; with more, every text that holds one would be slow. */
const mostAlike = 64

/** Chunks by the one anchor that each is looked up by. */
export class ChunkAnchors {
  readonly #columns: ChunkColumns
  readonly #hashOf: (chunk: number) => number
  readonly #slots: ChunkSlots
  /** how many chunks have an anchor that is not sampled, by a part of its hash */
  readonly #rare: Uint8Array
  /** a bit for each of these counts that is not 0: a text asks for thousands, which stay in a processor's cache */
  readonly #isRare: Uint32Array

  /** `seedOf`: that of the scope of a chunk. */
  constructor(capacity: number, columns: ChunkColumns, seedOf: (chunk: number) => number) {
    this.#columns = columns
    this.#hashOf = (chunk) => mixHash(columns.anchors[chunk]!, seedOf(chunk))
    this.#slots = new ChunkSlots(capacity, this.#hashOf)
    this.#rare = new Uint8Array(2 ** Math.ceil(Math.log2(Math.max(2, capacity))))
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

  /** Calls `onChunk` with every chunk of a scope whose anchor stands in a text, and with where it stands. Linear in the text. */
  lookUp(text: FoldedText, { number, seed }: Scope, onChunk: (chunk: number, at: number) => void): void {
    const isRare = this.#isRare
    const rareMask = this.#rare.length - 1
    const { starts, startCount, length } = text
    for (let i = 0; i < startCount; i++) {
      const at = starts[i]!
      if (at + anchorLength > length) break
      const anchor = text.anchorAt(at)
      const hash = mixHash(anchor, seed)
      const counter = (hash >>> 6) & rareMask
      if (!isSampled(anchor) && ((isRare[counter >>> 5]! >>> (counter & 31)) & 1) === 0) continue
      for (let slot = this.#slots.next(hash, hash); slot >= 0; slot = this.#slots.next(hash, slot + 1)) {
        const chunk = this.#slots.at(slot)
        if (this.#columns.anchors[chunk] === anchor && this.#columns.scopes[chunk] === number) onChunk(chunk, at)
      }
    }
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
      if (this.#columns.anchors[chunk] === anchor && this.#columns.scopes[chunk] === number) count++
    }
    return count
  }

  /** A counter that was full once stays so: look-ups are slower for it, never wrong. */
  #countRare(chunk: number, change: number): void {
    if (isSampled(this.#columns.anchors[chunk]!)) return
    const at = (this.#hashOf(chunk) >>> 6) & (this.#rare.length - 1)
    if (this.#rare[at] !== 255) this.#rare[at] = this.#rare[at]! + change
    const bit = 1 << (at & 31)
    this.#isRare[at >>> 5] = this.#rare[at] === 0 ? this.#isRare[at >>> 5]! & ~bit : this.#isRare[at >>> 5]! | bit
  }
}

/** Whether a text looks an anchor up in any case: an eighth of all. */
function isSampled(anchor: number): boolean {
  return Math.imul(anchor, 0x9e3779b1) >>> 29 === 0
}
