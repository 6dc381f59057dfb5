import type { BlockId } from '#index/context-block.ts'
import { Digests } from '#index/digests.ts'

const digestBytes = 16

/** Reads what a ByteWriter wrote. After the first invalid value everything is 0 or empty, and `isWhole` is false. */
export class ByteReader {
  readonly #bytes: Buffer
  #at: number
  #isBroken = false

  /** Reads from the byte at `start` on. */
  constructor(bytes: Buffer, start = 0) {
    this.#bytes = bytes
    this.#at = start
  }

  /** Whether everything was valid and read to the last byte. */
  get isWhole(): boolean {
    return !this.#isBroken && this.#at === this.#bytes.length
  }

  /** Reads an integer up to `most`. */
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

  /** Reads the given number of integers, each up to `most`. */
  numbers(count: number, most: number): number[] {
    if (!this.#mayHave(count)) return []
    const numbers: number[] = []
    for (let i = 0; i < count && !this.#isBroken; i++) numbers.push(this.number(most))
    return numbers
  }

  /** Reads the given number of integers in ascending order, each up to `most`. */
  ascending(count: number, most: number): number[] {
    if (!this.#mayHave(count)) return []
    const numbers: number[] = []
    let last = 0
    for (let i = 0; i < count && !this.#isBroken; i++) {
      last += this.number(most - last)
      numbers.push(last)
    }
    return numbers
  }

  /** Reads the given number of signed 32-bit integers. */
  words(count: number): number[] {
    if (!this.#mayHave(4 * count)) return []
    const words: number[] = []
    for (let i = 0; i < count; i++) words.push(this.#bytes.readInt32BE(this.#at + 4 * i))
    this.#at += 4 * count
    return words
  }

  /** Reads a text. */
  text(): string {
    const tag = this.number(this.#bytes.length + 1)
    const length = tag === 0 ? digestBytes : tag - 1
    const end = this.#at + length
    if (!this.#mayHave(length)) return ''
    const text = this.#bytes.toString(tag === 0 ? 'base64url' : 'utf8', this.#at, end)
    this.#at = end
    return text
  }

  /** Reads the given number of block ids; returns `Digests` if all of them are digests. */
  blocks(count: number): readonly BlockId[] | Digests {
    const distance = 1 + digestBytes
    const end = this.#at + count * distance
    let areDigests = !this.#isBroken && count > 0 && end <= this.#bytes.length
    for (let at = this.#at; areDigests && at < end; at += distance) areDigests = this.#bytes[at] === 0
    if (!areDigests) return this.many(count, () => this.text() as BlockId)
    const digests = new Digests(this.#bytes, { start: this.#at + 1, distance, length: count })
    this.#at = end
    return digests
  }

  /** Reads the given number of items. Each takes at least a byte, so a count that cannot fit is rejected first. */
  many<T>(count: number, read: () => T): T[] {
    if (!this.#mayHave(count)) return []
    const items: T[] = []
    for (let i = 0; i < count && !this.#isBroken; i++) items.push(read())
    return items
  }

  /** Whether the given number of bytes is left; marks the input as broken if not. */
  #mayHave(bytes: number): boolean {
    if (bytes > this.#bytes.length - this.#at) this.#isBroken = true
    return !this.#isBroken
  }

  #break<T>(nothing: T): T {
    this.#isBroken = true
    return nothing
  }
}
