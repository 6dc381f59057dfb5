const pageBits = 12
const pageLength = 1 << pageBits
const placeMask = pageLength - 1

/** A list stored in pages, so that growing never copies existing items. */
export class PagedList<T> {
  readonly #pages: T[][] = []
  #length = 0

  get length(): number {
    return this.#length
  }

  /** Returns the item at an index within the list. */
  at(place: number): T {
    return this.#pages[place >>> pageBits]![place & placeMask]!
  }

  /** Sets the item at an index within the list, or appends at index `length`. */
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
