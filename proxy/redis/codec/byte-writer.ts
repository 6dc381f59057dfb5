/** Writes numbers and texts compactly. Digests, which most texts are, are written as their 16 bytes. */
export class ByteWriter {
  #bytes = Buffer.allocUnsafe(1_024)
  #length = 0

  get length(): number {
    return this.#length
  }

  /** Returns a copy of what was written. */
  bytes(): Buffer {
    return Buffer.from(this.#bytes.subarray(0, this.#length))
  }

  /** Writes an integer from 0 to 2³² − 1, seven bits per byte. */
  number(value: number): void {
    this.#reserve(5)
    let rest = value
    while (rest > 0x7f) {
      this.#bytes[this.#length++] = (rest & 0x7f) | 0x80
      rest = Math.floor(rest / 128)
    }
    this.#bytes[this.#length++] = rest
  }

  /** Writes a signed 32-bit integer. */
  word(value: number): void {
    this.#reserve(4)
    this.#length = this.#bytes.writeInt32BE(value, this.#length)
  }

  /** Writes numbers in ascending order. */
  ascending(values: readonly number[]): void {
    let last = 0
    for (const value of values) {
      this.number(value - last)
      last = value
    }
  }

  /** Writes a text: 0 and 16 bytes for a digest, otherwise its length plus one and UTF-8. */
  text(text: string): void {
    const bytes = text.length === 22 ? Buffer.from(text, 'base64url') : undefined
    if (bytes?.length === 16 && bytes.toString('base64url') === text) {
      this.number(0)
      this.#append(bytes)
      return
    }
    const utf8 = Buffer.from(text)
    this.number(utf8.length + 1)
    this.#append(utf8)
  }

  #append(bytes: Buffer): void {
    this.#reserve(bytes.length)
    bytes.copy(this.#bytes, this.#length)
    this.#length += bytes.length
  }

  #reserve(more: number): void {
    if (this.#length + more <= this.#bytes.length) return
    const larger = Buffer.allocUnsafe(Math.max(2 * this.#bytes.length, this.#length + more))
    this.#bytes.copy(larger)
    this.#bytes = larger
  }
}
