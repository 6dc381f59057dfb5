/**
 * A set of 64-bit digests, given as two signed halves, with room for `capacity` of them. One array with open
 * addressing: a built-in set takes five times as long for numbers that are not small integers.
 */
export class DigestSet {
  readonly #capacity: number
  readonly #mask: number
  readonly #halves: Int32Array
  #size = 0

  constructor(capacity: number) {
    this.#capacity = capacity
    // at most half full
    const places = 2 ** Math.ceil(Math.log2(Math.max(2, 2 * capacity)))
    this.#mask = places - 1
    this.#halves = new Int32Array(2 * places)
  }

  get isFull(): boolean {
    return this.#size >= this.#capacity
  }

  has(high: number, low: number): boolean {
    return this.#holds(this.#placeOf(high, low))
  }

  /** Adds a digest; returns whether it was there already. There must be room. */
  add(high: number, low: number): boolean {
    const at = this.#placeOf(high, low)
    if (this.#holds(at)) return true
    this.#halves[at] = high
    this.#halves[at + 1] = low | 1
    this.#size += 1
    return false
  }

  clear(): void {
    this.#halves.fill(0)
    this.#size = 0
  }

  #holds(at: number): boolean {
    return this.#halves[at + 1] !== 0
  }

  /**
   * Returns where a digest is, or where it would be. Its last bit is ignored, so that no digest looks like an empty
   * place.
   */
  #placeOf(high: number, low: number): number {
    const halves = this.#halves
    for (let place = high & this.#mask; ; place = (place + 1) & this.#mask) {
      const at = 2 * place
      if (halves[at + 1] === 0 || (halves[at] === high && halves[at + 1] === (low | 1))) return at
    }
  }
}
