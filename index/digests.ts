import type { BlockId, Context } from './context-block.ts'

/** Bytes of a digest. */
export const digestBytes = 16
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

/** Digests in a buffer, one after another. They can be looked up without building their names. */
export class Digests {
  readonly length: number
  readonly #bytes: Buffer

  constructor(bytes: Buffer) {
    this.#bytes = bytes
    this.length = bytes.length / digestBytes
  }

  /** Returns one of the four words of digest `i`. */
  wordOf(i: number, word: number): number {
    return this.#bytes.readInt32BE(i * digestBytes + 4 * word)
  }

  nameOf(i: number): BlockId {
    return this.#bytes.toString('base64url', i * digestBytes, (i + 1) * digestBytes) as BlockId
  }
}

/** Returns the digests that these names are, one after another; undefined if one of them is none. */
export function packDigests(names: Context): Buffer | undefined {
  const words = new Int32Array(4)
  if (!names.every((name) => readDigest(name, words))) return undefined
  return Buffer.concat(names.map((name) => Buffer.from(name, 'base64url')))
}

/** Returns the blocks as names. */
export function namesOf(blocks: Context | Digests): Context {
  return blocks instanceof Digests ? Array.from({ length: blocks.length }, (_, i) => blocks.nameOf(i)) : blocks
}
