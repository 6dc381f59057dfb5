import type { BlockId, Context } from './context-block.ts'

const digestBytes = 16
const digestLetters = 22
const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
/** by character code: value of a base64url letter; −1 if it is not one */
const letterValues = new Int8Array(128).fill(-1)
for (let value = 0; value < letters.length; value++) letterValues[letters.charCodeAt(value)] = value

/** A digest as four 32-bit words, big-endian. */
type DigestWords = Int32Array

/** Decodes a name (base64url of 16 bytes) into `words`. Returns false if it is not a digest. */
export function readDigest(name: string, words: DigestWords): boolean {
  if (name.length !== digestLetters) return false
  let [bits, count, at] = [0, 0, 0]
  for (let i = 0; i < digestLetters; i++) {
    const value = letterValues[name.charCodeAt(i) & 0x7f]!
    if (value < 0 || name.charCodeAt(i) > 0x7f) return false
    const missing = 32 - count
    if (missing > 6) {
      bits = (bits << 6) | value
      count += 6
    } else if (at < 4) {
      words[at++] = (bits << missing) | (value >>> (6 - missing))
      count = 6 - missing
      bits = value & ((1 << count) - 1)
    }
  }
  // the last letter has four unused bits, which must be 0
  return bits === 0
}

/** Digests stored in a buffer at equal distances. They can be looked up without building their names. */
export class Digests {
  readonly length: number
  readonly #bytes: Buffer
  readonly #start: number
  readonly #distance: number

  constructor(bytes: Buffer, { start, distance, length }: { start: number; distance: number; length: number }) {
    this.#bytes = bytes
    this.#start = start
    this.#distance = distance
    this.length = length
  }

  /** Returns one of the four words of digest `i`. */
  wordOf(i: number, word: number): number {
    const at = this.#start + i * this.#distance + 4 * word
    const bytes = this.#bytes
    return (bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!
  }

  nameOf(i: number): BlockId {
    const at = this.#start + i * this.#distance
    return this.#bytes.toString('base64url', at, at + digestBytes) as BlockId
  }
}

/** Returns the blocks as names. */
export function namesOf(blocks: Context | Digests): Context {
  return blocks instanceof Digests ? Array.from({ length: blocks.length }, (_, i) => blocks.nameOf(i)) : blocks
}
