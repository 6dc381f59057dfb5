const most = 250

/** In how many of the last texts a word stood: never too few. Two rows of cells, whatever is counted. */
export class WordCounts {
  readonly #cells: number
  readonly rows: Uint8Array
  /** Texts counted; halved with the counts when there are 250, so that what came long ago weighs less. */
  texts = 0

  /** `cells` is a power of two, 65,536 at most. */
  constructor(cells: number) {
    this.#cells = cells
    this.rows = new Uint8Array(2 * cells)
  }

  add(words: Iterable<number>): void {
    const { rows } = this
    for (const word of words) {
      const a = this.#first(word)
      const b = this.#second(word)
      const count = Math.min(rows[a]!, rows[b]!, most - 1)
      // only the smaller cell has to grow
      if (rows[a] === count) rows[a] = count + 1
      if (rows[b] === count) rows[b] = count + 1
    }
    if (++this.texts >= most) this.#halve()
  }

  of(word: number): number {
    return Math.min(this.rows[this.#first(word)]!, this.rows[this.#second(word)]!)
  }

  #first(word: number): number {
    return word & (this.#cells - 1)
  }

  #second(word: number): number {
    return this.#cells + ((word >>> 16) & (this.#cells - 1))
  }

  /** One stays one: a rare word is not an unknown one. */
  #halve(): void {
    this.texts >>= 1
    for (let i = 0; i < this.rows.length; i++) this.rows[i] = (this.rows[i]! + 1) >> 1
  }
}
