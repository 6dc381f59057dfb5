/** A context whose blocks are being placed one by one. */
export class Placement {
  /** the ranks placed so far, in the order to send them */
  readonly order: number[] = []
  /** by rank: block number; −1 for a block that the index does not know */
  readonly #blocks: readonly number[]
  readonly #isPlaced: Uint8Array
  /** by block: 1 + the first rank not placed yet, or 0; shared scratch, all 0 while unused */
  readonly #firstRank: number[]
  /** by rank: 1 + the next rank with the same block, or 0 */
  readonly #nextRank: number[] = []

  /** `firstRank` is scratch that must be all 0; `close` resets it. */
  constructor(blocks: readonly number[], firstRank: number[]) {
    this.#blocks = blocks
    this.#firstRank = firstRank
    this.#isPlaced = new Uint8Array(blocks.length)
    for (let rank = blocks.length - 1; rank >= 0; rank--) {
      const block = blocks[rank]!
      this.#nextRank[rank] = block < 0 ? 0 : (firstRank[block] ?? 0)
      if (block >= 0) firstRank[block] = rank + 1
    }
  }

  /** Returns whether an occurrence of a block in the context is not placed yet. */
  has(block: number): boolean {
    return (this.#firstRank[block] ?? 0) > 0
  }

  /** Places the best-ranked remaining occurrence of a block. Returns false, without effect, if there is none. */
  tryPlace(block: number): boolean {
    const rank = (this.#firstRank[block] ?? 0) - 1
    if (rank < 0) return false
    this.place(rank)
    return true
  }

  /** Returns whether the block at a rank is placed. */
  isPlaced(rank: number): boolean {
    return this.#isPlaced[rank] === 1
  }

  /** Places the block at a rank that is not placed yet. Equal blocks must be placed in rank order. */
  place(rank: number): void {
    const block = this.#blocks[rank]!
    if (block >= 0) this.#firstRank[block] = this.#nextRank[rank]!
    this.#isPlaced[rank] = 1
    this.order.push(rank)
  }

  /** Undoes all placements after the first `length`. */
  undo(length: number): void {
    while (this.order.length > length) {
      const rank = this.order.pop()!
      const block = this.#blocks[rank]!
      if (block >= 0) this.#firstRank[block] = rank + 1
      this.#isPlaced[rank] = 0
    }
  }

  /** Places all remaining blocks in rank order and clears the scratch. */
  close(): void {
    for (const rank of this.#blocks.keys()) if (!this.isPlaced(rank)) this.place(rank)
    for (const block of this.#blocks) if (block >= 0) this.#firstRank[block] = 0
  }
}
