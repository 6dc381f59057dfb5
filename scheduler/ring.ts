interface Link<T> {
  readonly item: T
  before: Link<T>
  after: Link<T>
}

/** Things that have their turn one after the other, over and over. Every operation is O(1). */
export class Ring<T> {
  readonly #links = new Map<T, Link<T>>()
  #head: Link<T> | undefined

  /** How many items are in it. */
  get size(): number {
    return this.#links.size
  }

  /** Whose turn it is. */
  get head(): T | undefined {
    return this.#head?.item
  }

  /** Takes an item in as the last of the round; it must not be in it. */
  add(item: T): void {
    const link = { item } as Link<T>
    link.before = this.#head?.before ?? link
    link.after = this.#head ?? link
    link.before.after = link
    link.after.before = link
    this.#head ??= link
    this.#links.set(item, link)
  }

  /** Takes an item out; if it was its turn, it is that of the next. */
  remove(item: T): void {
    const link = this.#links.get(item)
    if (!link) return
    this.#links.delete(item)
    link.before.after = link.after
    link.after.before = link.before
    if (this.#head === link) this.#head = link.after === link ? undefined : link.after
  }

  /** Passes the turn to the next. */
  turn(): void {
    this.#head = this.#head?.after
  }
}
