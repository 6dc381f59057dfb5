/** A binary heap from which any item can be removed. Every operation is O(log n). */
export class IndexedHeap<T> {
  readonly #isBefore: (a: T, b: T) => boolean
  readonly #items: T[] = []
  readonly #places = new Map<T, number>()

  constructor(isBefore: (a: T, b: T) => boolean) {
    this.#isBefore = isBefore
  }

  /** Number of items. */
  get size(): number {
    return this.#items.length
  }

  /** The item that comes before all others; undefined if the heap is empty. */
  get first(): T | undefined {
    return this.#items[0]
  }

  /** Adds an item, which must not be in the heap. */
  add(item: T): void {
    this.#items.push(item)
    this.#rise(item, this.#items.length - 1)
  }

  /** Removes an item. Returns false if it is not in the heap. */
  remove(item: T): boolean {
    const place = this.#places.get(item)
    if (place === undefined) return false
    this.#places.delete(item)
    const last = this.#items.pop()!
    if (last !== item) this.#rise(last, this.#sink(last, place))
    return true
  }

  /** Puts an item at a place and moves it up as far as it belongs. */
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

  /** Moves children up until an item fits below `from`. Returns the free place. */
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
