/** Returns the next state of a hash. */
export function mix(hash: number, word: number): number {
  return Math.imul(hash ^ word, 0x01000193) ^ (hash >>> 15)
}

/** Like {@link mix}, with a state that changes in another way. */
export function mixOther(hash: number, word: number): number {
  return Math.imul(hash + word, 0x85ebca6b) ^ (hash >>> 13)
}
