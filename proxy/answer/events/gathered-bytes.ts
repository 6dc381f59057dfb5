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
      // mostly there is only one: no copy, and no room behind it that could be written to
      this.#bytes = chunk
    } else {
      if (length > this.#bytes.length) this.#grow(length)
      chunk.copy(this.#bytes, this.#length)
    }
    this.#length = length
  }

  /** All that was gathered; the next chunk begins anew. */
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
