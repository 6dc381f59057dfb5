/**
 * Chunk numbers by 32-bit hash, in an open-addressing table of fixed size with linear probing. One byte per slot holds
 * a part of the hash, so that most look-ups touch nothing else.
 */
export class ChunkSlots {
  readonly #mask: number
  readonly #tags: Uint8Array
  readonly #chunks: Int32Array
  readonly #hashOf: (chunk: number) => number

  /** `hashOf`: the hash of a chunk that is in the table. */
  constructor(capacity: number, hashOf: (chunk: number) => number) {
    const slots = 2 ** Math.ceil(Math.log2(Math.max(2, capacity * 1.5)))
    this.#mask = slots - 1
    // zeroes that were never touched take no physical memory
    this.#tags = new Uint8Array(slots)
    this.#chunks = new Int32Array(slots)
    this.#hashOf = hashOf
  }

  /** Returns the first slot from `slot` on that may hold a chunk with this hash; −1 if there is none. */
  next(hash: number, slot: number): number {
    const tag = tagOf(hash)
    for (let at = slot & this.#mask; this.#tags[at] !== 0; at = (at + 1) & this.#mask) {
      if (this.#tags[at] === tag) return at
    }
    return -1
  }

  /**
   * Keeps those of the first `count` hashes whose own slot is taken, and their entries in `beside`. Returns how many.
   */
  keepTaken(hashes: Int32Array, beside: Uint32Array, count: number): number {
    const tags = this.#tags
    const mask = this.#mask
    let kept = 0
    for (let i = 0; i < count; i++) {
      const hash = hashes[i]!
      hashes[kept] = hash
      beside[kept] = beside[i]!
      kept += -tags[hash & mask]! >>> 31
    }
    return kept
  }

  /**
   * Returns the chunks that may have one of the first `count` hashes, alternating with the entries in `beside` for
   * these hashes.
   */
  gather(hashes: Int32Array, beside: Uint32Array, count: number): number[] {
    const tags = this.#tags
    const mask = this.#mask
    const gathered: number[] = []
    for (let i = 0; i < count; i++) {
      const hash = hashes[i]!
      const tag = tagOf(hash)
      let at = hash & mask
      for (let seen = tags[at]!; seen !== 0; seen = tags[at]!) {
        if (seen === tag) gathered.push(this.#chunks[at]!, beside[i]!)
        at = (at + 1) & mask
      }
    }
    return gathered
  }

  at(slot: number): number {
    return this.#chunks[slot]!
  }

  put(chunk: number): void {
    const hash = this.#hashOf(chunk)
    let slot = hash & this.#mask
    while (this.#tags[slot] !== 0) slot = (slot + 1) & this.#mask
    this.#tags[slot] = tagOf(hash)
    this.#chunks[slot] = chunk
  }

  /** Removes a chunk; entries after it that it had displaced move back. */
  remove(chunk: number): void {
    let hole = this.#hashOf(chunk) & this.#mask
    while (this.#tags[hole] === 0 || this.#chunks[hole] !== chunk) hole = (hole + 1) & this.#mask
    for (let slot = (hole + 1) & this.#mask; this.#tags[slot] !== 0; slot = (slot + 1) & this.#mask) {
      const home = this.#hashOf(this.#chunks[slot]!) & this.#mask
      if (((slot - home) & this.#mask) < ((slot - hole) & this.#mask)) continue
      this.#tags[hole] = this.#tags[slot]!
      this.#chunks[hole] = this.#chunks[slot]!
      hole = slot
    }
    this.#tags[hole] = 0
  }
}

/** Mixes a hash that is nearly a sum into all of its bits (MurmurHash3's last step). */
export function mixHash(hash: number, seed: number): number {
  let mixed = hash ^ seed
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return mixed ^ (mixed >>> 16)
}

/** The part of its hash that a slot shows; 0 marks an empty slot. */
function tagOf(hash: number): number {
  return hash >>> 24 || 1
}
