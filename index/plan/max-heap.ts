/** A binary heap of integers by weight, heaviest first; of equal weights, the smallest integer first. */
export class MaxHeap {
  readonly #items: number[] = []
  readonly #weights: number[] = []

  get size(): number {
    return this.#items.length
  }

  push(item: number, weight: number): void {
    let at = this.#items.length
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (!this.#isBefore(item, weight, parent)) break
      this.#items[at] = this.#items[parent]!
      this.#weights[at] = this.#weights[parent]!
      at = parent
    }
    this.#items[at] = item
    this.#weights[at] = weight
  }

  pop(): number | undefined {
    const top = this.#items[0]
    const item = this.#items.pop()
    const weight = this.#weights.pop()
    if (this.#items.length === 0 || item === undefined || weight === undefined) return top
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      if (child >= this.#items.length) break
      const right = child + 1
      if (right < this.#items.length && this.#isBefore(this.#items[right]!, this.#weights[right]!, child)) child = right
      if (this.#isBefore(item, weight, child)) break
      this.#items[at] = this.#items[child]!
      this.#weights[at] = this.#weights[child]!
      at = child
    }
    this.#items[at] = item
    this.#weights[at] = weight
    return top
  }

  #isBefore(item: number, weight: number, at: number): boolean {
    return weight > this.#weights[at]! || (weight === this.#weights[at]! && item < this.#items[at]!)
  }
}
