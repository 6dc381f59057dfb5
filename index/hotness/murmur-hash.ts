import murmurHash3 from 'murmurhash3js-revisited'

// what is hashed here is made here, of bytes
murmurHash3.inputValidation = false

const bytes: number[] = []

/** MurmurHash3 (x86, 32 bits) of a text of Latin-1 characters, as ids of blocks are. */
export function hashText(text: string, seed = 0): number {
  bytes.length = text.length
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i) & 0xff
  return murmurHash3.x86.hash32(bytes, seed)
}

/** MurmurHash3 (x86, 32 bits) of a number below 2^32, as four bytes. */
export function hashWord(word: number, seed = 0): number {
  return murmurHash3.x86.hash32([word & 0xff, (word >>> 8) & 0xff, (word >>> 16) & 0xff, word >>> 24], seed)
}

/**
 * Goes on hashing where `state` is (0 at first), with the words from `start` to `end`: the body of MurmurHash3 without
 * its last mixing, so that the prefixes of a prompt take one pass together. `finishHash` gives the hash.
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

/** The hash of so many words whose state is `state`: of their bytes, low ones first. */
export function finishHash(state: number, words: number): number {
  let hash = state ^ (4 * words)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
