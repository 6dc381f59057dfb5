/**
 * A context whose blocks are being placed one by one, each at most `maxDisplacement` positions from its rank. Whatever
 * has been placed, the rest can still be placed, because at most one block is due at each position.
 */
export class Placement {
  /** the ranks placed so far, in the order to send them */
  readonly order: number[] = []
  /** by rank: block number; −1 for a block that the index does not know */
  readonly #blocks: readonly number[]
  readonly #maxDisplacement: number
  readonly #isPlaced: Uint8Array
  /** by block: 1 + the first rank not placed yet, or 0; shared scratch, all 0 while unused */
  readonly #firstRank: number[]
  /** by rank: 1 + the next rank with the same block, or 0 */
  readonly #nextRank: number[] = []
  #firstUnplaced = 0

  /** `firstRank` is scratch that must be all 0; `close` resets it. */
  constructor(blocks: readonly number[], firstRank: number[], maxDisplacement: number) {
    this.#blocks = blocks
    this.#firstRank = firstRank
    this.#maxDisplacement = maxDisplacement
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

  /** Places the best-ranked remaining occurrence of a block. Returns false, without effect, if that is not possible. */
  tryPlace(block: number): boolean {
    const rank = (this.#firstRank[block] ?? 0) - 1
    if (rank < 0 || !this.allows(rank)) return false
    this.place(rank)
    return true
  }

  /** Returns whether the block at a rank may be placed next. */
  allows(rank: number): boolean {
    if (this.#isPlaced[rank]) return false
    const due = this.order.length - this.#maxDisplacement
    return rank === due || (rank <= this.order.length + this.#maxDisplacement && (due < 0 || this.#isPlaced[due] === 1))
  }

  /** Places the block at an allowed rank. Equal blocks must be placed in rank order. */
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

  /** Places the best remaining rank, which is always allowed. */
  placeBest(): void {
    while (this.#isPlaced[this.#firstUnplaced]) this.#firstUnplaced += 1
    this.place(this.#firstUnplaced)
  }

  /** Places all remaining blocks in rank order and clears the scratch. */
  close(): void {
    while (this.order.length < this.#blocks.length) this.placeBest()
    for (const block of this.#blocks) if (block >= 0) this.#firstRank[block] = 0
  }
}
