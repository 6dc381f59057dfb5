const placesAtFirst = 1 << 12

/**
 * A set of 64-bit digests, given as two signed halves, for up to `capacity` of them. One array with open
 * addressing: a built-in set takes five times as long for numbers that are not small integers.
 */
export class DigestSet {
  readonly #capacity: number
  // at most half full
  #halves = new Int32Array(2 * placesAtFirst)
  #size = 0

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  get isFull(): boolean {
    return this.#size >= this.#capacity
  }

  has(high: number, low: number): boolean {
    return this.#halves[this.#placeOf(high, low) + 1] !== 0
  }

  /** Adds a digest; returns whether it was there already. There must be room. */
  add(high: number, low: number): boolean {
    const at = this.#placeOf(high, low)
    if (this.#halves[at + 1] !== 0) return true
    this.#halves[at] = high
    this.#halves[at + 1] = low | 1
    this.#size += 1
    if (4 * this.#size > this.#halves.length) this.#grow()
    return false
  }

  clear(): void {
    this.#halves.fill(0)
    this.#size = 0
  }

  #grow(): void {
    const held = this.#halves
    this.#halves = new Int32Array(2 * held.length)
    this.#size = 0
    for (let i = 0; i < held.length; i += 2) if (held[i + 1] !== 0) this.add(held[i]!, held[i + 1]!)
  }

  /**
   * Returns where a digest is, or where it would be. Its last bit is ignored, so that no digest looks like an empty
   * place.
   */
  #placeOf(high: number, low: number): number {
    const halves = this.#halves
    const mask = halves.length / 2 - 1
    for (let place = high & mask; ; place = (place + 1) & mask) {
      const at = 2 * place
      if (halves[at + 1] === 0 || (halves[at] === high && halves[at + 1] === (low | 1))) return at
    }
  }
}
