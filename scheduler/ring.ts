interface Link<T> {
  readonly item: T
  before: Link<T>
  after: Link<T>
}

/** Items that take turns in round-robin order. Every operation is O(1). */
export class Ring<T> {
  readonly #links = new Map<T, Link<T>>()
  #head: Link<T> | undefined

  /** Number of items. */
  get size(): number {
    return this.#links.size
  }

  /** The item whose turn it is; undefined if the ring is empty. */
  get head(): T | undefined {
    return this.#head?.item
  }

  /** Adds an item at the end of the round; it must not be in the ring. */
  add(item: T): void {
    const link = { item } as Link<T>
    link.before = this.#head?.before ?? link
    link.after = this.#head ?? link
    link.before.after = link
    link.after.before = link
    this.#head ??= link
    this.#links.set(item, link)
  }

  /** Removes an item. If it was its turn, the turn passes to the next. */
  remove(item: T): void {
    const link = this.#links.get(item)
    if (!link) return
    this.#links.delete(item)
    link.before.after = link.after
    link.after.before = link.before
    if (this.#head === link) this.#head = link.after === link ? undefined : link.after
  }

  /** Passes the turn to the next item. */
  turn(): void {
    this.#head = this.#head?.after
  }
}
