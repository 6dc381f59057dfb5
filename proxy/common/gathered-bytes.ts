/** Chunks put together; linear in time and space even when every chunk is one byte. */
export class GatheredBytes {
  #bytes: Buffer = Buffer.alloc(0)
  #length = 0

  get length(): number {
    return this.#length
  }

  add(chunk: Buffer): void {
    const length = this.#length + chunk.length
    if (this.#length === 0) {
      // usually there is only one: it is not copied, and has no room after it that could be written to
      this.#bytes = chunk
    } else {
      if (length > this.#bytes.length) this.#grow(length)
      chunk.copy(this.#bytes, this.#length)
    }
    this.#length = length
  }

  /** Returns everything gathered; the next chunk starts over. */
  take(): Buffer {
    const taken = this.#bytes.subarray(0, this.#length)
    this.#bytes = Buffer.alloc(0)
    this.#length = 0
    return taken
  }

  #grow(length: number): void {
    const grown = Buffer.allocUnsafe(length * 2)
    this.#bytes.copy(grown, 0, 0, this.#length)
    this.#bytes = grown
  }
}
