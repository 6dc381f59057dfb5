/**
 * Reads forward in a text of which the end may be still to come. Whoever finds `isStarved` afterwards knows that the
 * reading depends on text that is not here yet.
 */
export class Lookahead {
  at: number
  readonly #text: string
  readonly #isWhole: boolean
  #isStarved = false

  constructor(text: string, at: number, isWhole: boolean) {
    this.#text = text
    this.at = at
    this.#isWhole = isWhole
  }

  get isStarved(): boolean {
    return this.#isStarved
  }

  /** The character `distance` further on; empty behind the end. */
  peek(distance = 0): string {
    const index = this.at + distance
    if (index < this.#text.length) return this.#text[index]!
    if (!this.#isWhole) this.#isStarved = true
    return ''
  }

  /** Steps over `text` if it is what follows. */
  take(text: string): boolean {
    for (let i = 0; i < text.length; i++) if (this.peek(i) !== text[i]) return false
    this.at += text.length
    return true
  }

  /** Steps over at most `limit` characters of the set; says how many. */
  skip(characters: string, limit: number): number {
    let count = 0
    while (count < limit && this.peek() !== '' && characters.includes(this.peek())) {
      this.at += 1
      count += 1
    }
    return count
  }

  /** What was read since `start`. */
  since(start: number): string {
    return this.#text.slice(start, this.at)
  }
}
