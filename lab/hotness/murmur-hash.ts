import murmurHash3 from 'murmurhash3js-revisited'

// the input is always built here, from bytes
murmurHash3.inputValidation = false

const bytes: number[] = []

/** Returns the MurmurHash3 (x86, 32 bits) of a Latin-1 text, such as a block id. */
export function hashText(text: string, seed = 0): number {
  bytes.length = text.length
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i) & 0xff
  return murmurHash3.x86.hash32(bytes, seed)
}

/** Returns the MurmurHash3 (x86, 32 bits) of a number below 2^32, as four bytes. */
export function hashWord(word: number, seed = 0): number {
  return murmurHash3.x86.hash32([word & 0xff, (word >>> 8) & 0xff, (word >>> 16) & 0xff, word >>> 24], seed)
}

/**
 * Continues a hash from `state` (initially 0) with the words from `start` to `end`. This is the body of MurmurHash3
 * without the final mixing, so that all prefixes of a prompt can be hashed in one pass. `finishHash` returns the hash.
 */
export function hashOn(state: number, words: Uint32Array, start: number, end: number): number {
  let hash = state
  for (let i = start; i < end; i++) {
    let word = Math.imul(words[i]!, 0xcc9e2d51)
    word = Math.imul((word << 15) | (word >>> 17), 0x1b873593)
    hash ^= word
    hash = (Math.imul((hash << 13) | (hash >>> 19), 5) + 0xe6546b64) | 0
  }
  return hash
}

/** Returns the hash of `words` words from their `state`; the bytes of each word are little-endian. */
export function finishHash(state: number, words: number): number {
  let hash = state ^ (4 * words)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
