const megabyte = 1024 * 1024
const most = 256 * megabyte
/** At most a quarter of the container's memory, if that is limited. */
const mostUnseen = Math.min(most, (process.constrainedMemory() || Number.POSITIVE_INFINITY) / 4)

let unseen = 0
const collected = new FinalizationRegistry<number>((bytes) => {
  unseen -= bytes
})

/**
 * Returns a buffer for a large body, in shared memory if there is not too much of it.
 *
 * V8 counts the memory of buffers. When it has grown by 64 MB, V8 starts a collection. Until that ends, every
 * allocation of a buffer marks a part of the heap for 5 to 12 ms, and all requests wait. V8 does not count shared
 * memory; it frees such a buffer at the next collection. Beyond `mostUnseen`, V8 has to count and collect.
 */
export function allocateLarge(bytes: number): Buffer {
  if (unseen + bytes > mostUnseen) return Buffer.allocUnsafeSlow(bytes)
  unseen += bytes
  const memory = new SharedArrayBuffer(bytes)
  collected.register(memory, bytes)
  return Buffer.from(memory)
}

/** Chunks put together; linear in time and space even when every chunk is one byte. */
export class GatheredBytes {
  #bytes: Buffer = Buffer.alloc(0)
  length = 0

  /** `expected`: how many there will be together, if that was announced. */
  add(chunk: Buffer, expected = 0): void {
    const length = this.length + chunk.length
    if (this.length === 0) {
      // usually there is only one: it is not copied, and has no room after it that could be written to
      this.#bytes = chunk
    } else {
      if (length > this.#bytes.length) this.#grow(length, expected)
      chunk.copy(this.#bytes, this.length)
    }
    this.length = length
  }

  /** Returns everything gathered; the next chunk starts over. */
  take(): Buffer {
    const taken = this.#bytes.subarray(0, this.length)
    this.#bytes = Buffer.alloc(0)
    this.length = 0
    return taken
  }

  /** More than a megabyte is not taken for what is only announced. */
  #grow(length: number, expected: number): void {
    const isDue = expected >= length && (expected <= megabyte || length > megabyte)
    const size = isDue ? expected : length * 2
    const grown = size > megabyte ? allocateLarge(size) : Buffer.allocUnsafe(size)
    this.#bytes.copy(grown, 0, 0, this.length)
    this.#bytes = grown
  }
}
