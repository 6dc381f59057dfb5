/** Finds the next colon for positions that only increase. Most lines have none near their beginning. */
export class NextColon {
  readonly #text: string
  #next = -1
  #nextWide = -1

  constructor(text: string) {
    this.#text = text
  }

  from(start: number): number {
    if (this.#next < start) this.#next = this.#find(':', start)
    if (this.#nextWide < start) this.#nextWide = this.#find('：', start)
    return Math.min(this.#next, this.#nextWide)
  }

  #find(colon: ':' | '：', start: number): number {
    const found = this.#text.indexOf(colon, start)
    return found < 0 ? Number.POSITIVE_INFINITY : found
  }
}
