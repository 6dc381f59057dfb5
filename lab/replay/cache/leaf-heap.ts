/** A binary heap of distinct items by key, then by order, lowest first. Operations are O(log n); `min` is O(1). */
export class LeafHeap<Item> {
  #items: Item[] = []
  readonly #keys: number[] = []
  readonly #orders: number[] = []
  readonly #places = new Map<Item, number>()

  get size(): number {
    return this.#items.length
  }

  /** The first item; undefined if there is none. */
  get min(): Item | undefined {
    return this.#items[0]
  }

  has(item: Item): boolean {
    return this.#places.has(item)
  }

  /** Adds an item, or changes its key and order. */
  put(item: Item, key: number, order: number): void {
    const known = this.#places.get(item)
    const at = known ?? this.#items.length
    this.#set(at, item, key, order)
    if (known === undefined || !this.#sink(at)) this.#rise(at)
  }

  remove(item: Item): void {
    const at = this.#places.get(item)
    if (at === undefined) return
    this.#places.delete(item)
    const last = this.#items.pop()!
    const [key, order] = [this.#keys.pop()!, this.#orders.pop()!]
    if (last === item) return
    this.#set(at, last, key, order)
    if (!this.#sink(at)) this.#rise(at)
  }

  /** Recomputes all keys. O(n). */
  rekey(keyOf: (item: Item) => number): void {
    for (let at = 0; at < this.#items.length; at++) this.#keys[at] = keyOf(this.#items[at]!)
    for (let at = (this.#items.length >> 1) - 1; at >= 0; at--) this.#sink(at)
  }

  /** Iterates over all items, in no particular order. */
  [Symbol.iterator](): IterableIterator<Item> {
    return this.#items.values()
  }

  #set(at: number, item: Item, key: number, order: number): void {
    this.#items[at] = item
    this.#keys[at] = key
    this.#orders[at] = order
    this.#places.set(item, at)
  }

  #isBefore(a: number, b: number): boolean {
    const [one, other] = [this.#keys[a]!, this.#keys[b]!]
    return one < other || (one === other && this.#orders[a]! < this.#orders[b]!)
  }

  #rise(from: number): void {
    for (let at = from; at > 0; ) {
      const parent = (at - 1) >> 1
      if (!this.#isBefore(at, parent)) return
      this.#swap(at, parent)
      at = parent
    }
  }

  /** Returns whether the item moved. */
  #sink(from: number): boolean {
    let at = from
    for (;;) {
      let first = at
      for (let child = 2 * at + 1; child <= 2 * at + 2; child++) {
        if (child < this.#items.length && this.#isBefore(child, first)) first = child
      }
      if (first === at) return at !== from
      this.#swap(at, first)
      at = first
    }
  }

  #swap(a: number, b: number): void {
    const [item, key, order] = [this.#items[a]!, this.#keys[a]!, this.#orders[a]!]
    this.#set(a, this.#items[b]!, this.#keys[b]!, this.#orders[b]!)
    this.#set(b, item, key, order)
  }
}
