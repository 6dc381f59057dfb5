/** Packs texts into numbers, two UTF-16 units in each. Its buffer is used again, so that no request allocates one. */
export class TextPacker {
  #words = new Int32Array(0)
  #bytes: Buffer = Buffer.alloc(0)

  /**
   * Packs texts without gaps, after `offset` units of 0; the last number may end with one. The result is
   * valid until the next call.
   */
  pack(texts: readonly string[], offset: 0 | 1): Int32Array {
    const units = texts.reduce<number>((sum, { length }) => sum + length, offset)
    const count = (units + 1) >> 1
    if (count > this.#words.length) {
      this.#words = new Int32Array(Math.max(count, 2 * this.#words.length))
      this.#bytes = Buffer.from(this.#words.buffer)
    }
    const words = this.#words.subarray(0, count)
    // the halves that no text fills
    if (count > 0) words[0] = words[count - 1] = 0
    let at = 2 * offset
    for (const text of texts) at += this.#bytes.write(text, at, 'utf16le')
    return words
  }
}
