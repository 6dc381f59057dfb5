/** no word that counts is longer */
const longestWord = 10

/**
 * Reads forward in a text whose end may still be missing. If `isStarved` is set afterwards, the result depends on text
 * that has not arrived yet.
 */
export class Lookahead {
  at: number
  isStarved = false
  readonly #text: string
  readonly #isWhole: boolean

  constructor(text: string, at: number, isWhole: boolean) {
    this.#text = text
    this.at = at
    this.#isWhole = isWhole
  }

  /** Returns the character `distance` further on; empty past the end. */
  peek(distance = 0): string {
    const index = this.at + distance
    if (index < this.#text.length) return this.#text[index]!
    if (!this.#isWhole) this.isStarved = true
    return ''
  }

  /** Returns the lower-case letters `distance` further on, at most as many as `longestWord`. */
  peekWord(distance: number): string {
    let word = ''
    while (word.length < longestWord && /[a-z]/.test(this.peek(distance + word.length)))
      word += this.peek(distance + word.length)
    return word
  }

  /** Steps over `text` if it follows; returns whether it did. */
  take(text: string): boolean {
    for (let i = 0; i < text.length; i++) if (this.peek(i) !== text[i]) return false
    this.at += text.length
    return true
  }

  /** Returns how many characters of the set follow, at most `limit`. */
  count(characters: string, limit: number): number {
    let count = 0
    while (count < limit && this.peek(count) !== '' && characters.includes(this.peek(count))) count += 1
    return count
  }

  /** Steps over at most `limit` characters of the set; returns how many. */
  skip(characters: string, limit: number): number {
    const count = this.count(characters, limit)
    this.at += count
    return count
  }

  /** Returns what was read since `start`. */
  since(start: number): string {
    return this.#text.slice(start, this.at)
  }
}
