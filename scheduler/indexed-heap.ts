/** A binary heap from which anything can be taken, wherever it is. Every operation is O(log n). */
export class IndexedHeap<T> {
  readonly #isBefore: (a: T, b: T) => boolean
  readonly #items: T[] = []
  readonly #places = new Map<T, number>()

  constructor(isBefore: (a: T, b: T) => boolean) {
    this.#isBefore = isBefore
  }

  /** How many items are in it. */
  get size(): number {
    return this.#items.length
  }

  /** The item that is before all others. */
  get first(): T | undefined {
    return this.#items[0]
  }

  /** Takes an item in; no item may be in it twice. */
  add(item: T): void {
    this.#items.push(item)
    this.#rise(item, this.#items.length - 1)
  }

  /** Takes an item out; false when it is not in it. */
  remove(item: T): boolean {
    const place = this.#places.get(item)
    if (place === undefined) return false
    this.#places.delete(item)
    const last = this.#items.pop()!
    if (last !== item) this.#rise(last, this.#sink(last, place))
    return true
  }

  /** Puts an item at a place or as far above it as it belongs. */
  #rise(item: T, from: number): void {
    let place = from
    while (place > 0) {
      const above = (place - 1) >> 1
      if (!this.#isBefore(item, this.#items[above]!)) break
      this.#put(this.#items[above]!, place)
      place = above
    }
    this.#put(item, place)
  }

  /** Makes room for an item below a place, as far as it belongs there; returns where. */
  #sink(item: T, from: number): number {
    let place = from
    for (;;) {
      let below = 2 * place + 1
      if (below >= this.#items.length) return place
      if (below + 1 < this.#items.length && this.#isBefore(this.#items[below + 1]!, this.#items[below]!)) below += 1
      if (!this.#isBefore(this.#items[below]!, item)) return place
      this.#put(this.#items[below]!, place)
      place = below
    }
  }

  #put(item: T, place: number): void {
    this.#items[place] = item
    this.#places.set(item, place)
  }
}
