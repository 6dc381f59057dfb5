import { DigestTexts } from './digest-texts.ts'

const digests = new DigestTexts()

/** Reads what a ByteWriter wrote; from the first thing on that cannot be so, everything is 0 or empty and `isWhole` false. */
export class ByteReader {
  readonly #bytes: Buffer
  #at = 0
  #isBroken = false

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  /** Whether all of it was understood, to the last byte. */
  get isWhole(): boolean {
    return !this.#isBroken && this.#at === this.#bytes.length
  }

  /** A whole number up to `most`. */
  number(most: number): number {
    let value = 0
    for (let factor = 1; factor <= 128 ** 4; factor *= 128) {
      const byte = this.#bytes[this.#at++]
      if (byte === undefined) return this.#break(0)
      value += (byte & 0x7f) * factor
      if (byte <= 0x7f) return value <= most ? value : this.#break(0)
    }
    return this.#break(0)
  }

  /** A whole number of 32 bits with a sign. */
  word(): number {
    if (this.#isBroken || this.#at + 4 > this.#bytes.length) return this.#break(0)
    this.#at += 4
    return this.#bytes.readInt32BE(this.#at - 4)
  }

  /** So many numbers up to `most`, none smaller than the one before. */
  ascending(count: number, most: number): number[] {
    let last = 0
    return this.many(count, () => {
      last += this.number(most - last)
      return last
    })
  }

  /** A text; `isFrequent`: one that is read again and again, and is not made anew each time. */
  text(isFrequent = false): string {
    const tag = this.number(this.#bytes.length + 1)
    const length = tag === 0 ? 16 : tag - 1
    const end = this.#at + length
    if (this.#isBroken || end > this.#bytes.length) return this.#break('')
    const text =
      isFrequent && tag === 0
        ? digests.read(this.#bytes, this.#at)
        : this.#bytes.toString(tag === 0 ? 'base64url' : 'utf8', this.#at, end)
    this.#at = end
    return text
  }

  /** So many of something; each takes a byte at least, so no more are made room for than can be there. */
  many<T>(count: number, read: () => T): T[] {
    if (count > this.#bytes.length - this.#at) return this.#break([])
    const items: T[] = []
    for (let i = 0; i < count && !this.#isBroken; i++) items.push(read())
    return items
  }

  #break<T>(nothing: T): T {
    this.#isBroken = true
    return nothing
  }
}
