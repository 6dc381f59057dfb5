/** An item for an `LruList`; the list owns these two fields. */
export interface LruItem<T> {
  older: T | undefined
  newer: T | undefined
}

/** Items from the least to the most recently used; every operation is O(1). */
export class LruList<T extends LruItem<T>> {
  oldest: T | undefined
  size = 0
  #newest: T | undefined

  /** Puts `item`, which must not be in the list, at the most recent end. */
  append(item: T): void {
    item.older = this.#newest
    if (this.#newest) this.#newest.newer = item
    else this.oldest = item
    this.#newest = item
    this.size += 1
  }

  remove(item: T): void {
    if (item.older) item.older.newer = item.newer
    else this.oldest = item.newer
    if (item.newer) item.newer.older = item.older
    else this.#newest = item.older
    item.older = undefined
    item.newer = undefined
    this.size -= 1
  }
}
