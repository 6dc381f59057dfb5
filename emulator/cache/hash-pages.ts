import { createHash } from 'node:crypto'

const digestBytes = 32

/**
 * The hash chain of a request's full pages, computed lazily. Each hash covers its page and, through the previous
 * hash, everything before it; the first hash also covers the salt.
 *
 * SHA-256 as in vLLM: 10 M tokens/s at 16 tokens per page; for hashing alone, murmur3 x64 in JavaScript is five times
 * slower.
 */
export class PageHashes {
  readonly #tokens: Uint32Array
  readonly #block: Uint8Array
  readonly #blockTokens: Uint32Array
  readonly #hashes: string[] = []
  #parent: Buffer

  constructor(tokens: Uint32Array, pageTokens: number, salt: string) {
    this.#tokens = tokens
    this.#block = new Uint8Array(digestBytes + pageTokens * 4)
    this.#blockTokens = new Uint32Array(this.#block.buffer, digestBytes)
    this.#parent = createHash('sha256').update(salt).digest()
  }

  /** The hash of full page `index`. */
  at(index: number): string {
    while (this.#hashes.length <= index) this.#hashNext()
    return this.#hashes[index]!
  }

  #hashNext(): void {
    const start = this.#hashes.length * this.#blockTokens.length
    this.#block.set(this.#parent)
    this.#blockTokens.set(this.#tokens.subarray(start, start + this.#blockTokens.length))
    this.#parent = createHash('sha256').update(this.#block).digest()
    this.#hashes.push(this.#parent.toString('latin1'))
  }
}
