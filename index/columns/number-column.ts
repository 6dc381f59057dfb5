const pageBits = 15
const pageLength = 1 << pageBits
const placeMask = pageLength - 1

/**
 * Numbers by place, in pages: what is there stays where it is however many are added, as to copy tens of millions would
 * take too long at once. Of few, the only page grows by and by.
 */
export abstract class NumberColumn<Page extends Int32Array | Float64Array = Int32Array | Float64Array> {
  protected readonly pages: Page[] = []
  readonly #createPage: (length: number) => Page
  #room = 0

  constructor(createPage: (length: number) => Page) {
    this.#createPage = createPage
  }

  /** There is room for so many. */
  get room(): number {
    return this.#room
  }

  // each kind has its own of these two: where only one kind of page is ever seen, the machine code is the shortest

  /** What lies at a place there is room for: 0, if it was never set. */
  abstract at(place: number): number

  /** Puts a number at a place there is room for. */
  abstract set(place: number, value: number): void

  /** Makes room for so many. */
  reserve(count: number): void {
    while (count > this.#room) this.#grow(count)
  }

  /** Nothing is there, and no room for anything. */
  clear(): void {
    this.pages.length = 0
    this.#room = 0
  }

  /** What lies in stretches of places lies side by side from now on, in their order; the rest is gone. */
  gather(stretches: Iterable<{ readonly start: number; readonly length: number }>): void {
    const before = this.pages.splice(0)
    this.#room = 0
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
      this.#room += pageLength
      return
    }
    const larger = this.#createPage(Math.min(pageLength, Math.ceil(1.25 * count) + 16))
    if (first) larger.set(first)
    this.pages[0] = larger
    this.#room = larger.length
  }
}

/** Whole numbers of 32 bits. */
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

  /** Adds to what lies at a place. */
  add(place: number, value: number): void {
    this.pages[place >>> pageBits]![place & placeMask]! += value
  }

  /** Takes a number into what lies at a place, or out of it, by exclusive or. */
  toggle(place: number, value: number): void {
    this.pages[place >>> pageBits]![place & placeMask]! ^= value
  }
}

/** Any numbers. */
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

/** Makes room for so many in several columns that have as much room as the first. */
export function reserveAll(columns: readonly NumberColumn[], count: number): void {
  if (count <= columns[0]!.room) return
  for (const column of columns) column.reserve(count)
}
