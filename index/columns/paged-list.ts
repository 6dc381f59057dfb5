const pageBits = 12
const pageLength = 1 << pageBits
const placeMask = pageLength - 1

/** A list in pages: none of it is copied when it grows, however long it is. */
export class PagedList<T> {
  readonly #pages: T[][] = []
  #length = 0

  get length(): number {
    return this.#length
  }

  /** What lies at a place within the list. */
  at(place: number): T {
    return this.#pages[place >>> pageBits]![place & placeMask]!
  }

  /** Puts something at a place within the list, or behind its last. */
  set(place: number, item: T): void {
    const page = place >>> pageBits
    if (page === this.#pages.length) this.#pages.push([])
    this.#pages[page]![place & placeMask] = item
    if (place === this.#length) this.#length += 1
  }

  clear(): void {
    this.#pages.length = 0
    this.#length = 0
  }
}
