const pageBits = 15
const pageLength = 1 << pageBits
const placeMask = pageLength - 1

/**
 * Numbers by place, stored in pages. Growing never moves existing pages, because copying tens of millions of numbers at
 * once would take too long. Only the first page grows, in steps, until it is full.
 */
export abstract class NumberColumn<Page extends Int32Array | Float64Array = Int32Array | Float64Array> {
  protected readonly pages: Page[] = []
  readonly #createPage: (length: number) => Page
  /** number of places there is room for */
  room = 0

  constructor(createPage: (length: number) => Page) {
    this.#createPage = createPage
  }

  // each subclass implements these two: code that only ever sees one kind of page compiles to the shortest machine code

  /** Returns the number at a place within the room; 0 if it was never set. */
  abstract at(place: number): number

  /** Sets the number at a place within the room. */
  abstract set(place: number, value: number): void

  /** Makes room for at least `count` places. */
  reserve(count: number): void {
    while (count > this.room) this.#grow(count)
  }

  /** Removes all numbers and all room. */
  clear(): void {
    this.pages.length = 0
    this.room = 0
  }

  /** Moves the given stretches together, in the given order, and drops everything else. */
  gather(stretches: Iterable<{ readonly start: number; readonly length: number }>): void {
    const before = this.pages.splice(0)
    this.room = 0
    let end = 0
    for (const { start, length } of stretches) {
      this.reserve(end + length)
      for (let place = start; place < start + length; place++) {
        this.set(end++, before[place >>> pageBits]![place & placeMask]!)
      }
    }
  }

  get bytes(): number {
    return this.pages.reduce((sum, { byteLength }) => sum + byteLength, 0)
  }

  #grow(count: number): void {
    const [first] = this.pages
    if (first && first.length === pageLength) {
      this.pages.push(this.#createPage(pageLength))
      this.room += pageLength
      return
    }
    const larger = this.#createPage(Math.min(pageLength, Math.ceil(1.25 * count) + 16))
    if (first) larger.set(first)
    this.pages[0] = larger
    this.room = larger.length
  }
}

/** A column of 32-bit integers. */
export class WholeColumn extends NumberColumn<Int32Array> {
  constructor() {
    super((length) => new Int32Array(length))
  }

  at(place: number): number {
    return this.pages[place >>> pageBits]![place & placeMask]!
  }

  set(place: number, value: number): void {
    this.pages[place >>> pageBits]![place & placeMask] = value
  }

  /** Adds to the number at a place. */
  add(place: number, value: number): void {
    this.pages[place >>> pageBits]![place & placeMask]! += value
  }

  /** XORs a number into the one at a place. */
  toggle(place: number, value: number): void {
    this.pages[place >>> pageBits]![place & placeMask]! ^= value
  }
}

/** A column of 64-bit floats. */
export class FloatColumn extends NumberColumn<Float64Array> {
  constructor() {
    super((length) => new Float64Array(length))
  }

  at(place: number): number {
    return this.pages[place >>> pageBits]![place & placeMask]!
  }

  set(place: number, value: number): void {
    this.pages[place >>> pageBits]![place & placeMask] = value
  }
}

/** Makes room for `count` places in several columns, which must all have as much room as the first. */
export function reserveAll(columns: readonly NumberColumn[], count: number): void {
  if (count <= columns[0]!.room) return
  for (const column of columns) column.reserve(count)
}
