/**
 * A context while its blocks are placed, one after the other, none further than `maxDisplacement` places from its rank.
 * Whatever has been placed, all the others can still be: no more than one block is due at a place.
 */
export class Placement {
  /** the ranks placed so far, in the order to send them */
  readonly order: number[] = []
  /** by rank: the block's number; −1 for a block the index does not know */
  readonly #blocks: readonly number[]
  readonly #maxDisplacement: number
  readonly #isPlaced: Uint8Array
  /** by block: 1 + the first rank that is not placed yet, or 0; shared with others, all 0 in between */
  readonly #firstRank: number[]
  /** by rank: 1 + the next rank with the same block, or 0 */
  readonly #nextRank: number[] = []
  #firstUnplaced = 0

  /** `firstRank` is scratch that is all 0; `close` leaves it so. */
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

  /** Whether a block is in the context and not yet placed as often as it is. */
  has(block: number): boolean {
    return (this.#firstRank[block] ?? 0) > 0
  }

  /** Places a block, at its best rank; false, without effect, if it is not to be had or must not stand here. */
  tryPlace(block: number): boolean {
    const rank = (this.#firstRank[block] ?? 0) - 1
    if (rank < 0 || !this.allows(rank)) return false
    this.place(rank)
    return true
  }

  /** Whether what stands at a rank may be placed next. */
  allows(rank: number): boolean {
    if (this.#isPlaced[rank]) return false
    const due = this.order.length - this.#maxDisplacement
    return rank === due || (rank <= this.order.length + this.#maxDisplacement && (due < 0 || this.#isPlaced[due] === 1))
  }

  /** Places what stands at a rank that is allowed; of equal blocks the first. */
  place(rank: number): void {
    const block = this.#blocks[rank]!
    if (block >= 0) this.#firstRank[block] = this.#nextRank[rank]!
    this.#isPlaced[rank] = 1
    this.order.push(rank)
  }

  /** Takes back all but the first `length` placed. */
  undo(length: number): void {
    while (this.order.length > length) {
      const rank = this.order.pop()!
      const block = this.#blocks[rank]!
      if (block >= 0) this.#firstRank[block] = rank + 1
      this.#isPlaced[rank] = 0
    }
  }

  /** Places the best rank that is left: it may always stand here. */
  placeBest(): void {
    while (this.#isPlaced[this.#firstUnplaced]) this.#firstUnplaced += 1
    this.place(this.#firstUnplaced)
  }

  /** Places all that is left, in rank order, and clears the scratch. */
  close(): void {
    while (this.order.length < this.#blocks.length) this.placeBest()
    for (const block of this.#blocks) if (block >= 0) this.#firstRank[block] = 0
  }
}
