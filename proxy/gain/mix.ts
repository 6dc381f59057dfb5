/** Returns the next state of a hash. */
export function mix(hash: number, word: number): number {
  return Math.imul(hash ^ word, 0x01000193) ^ (hash >>> 15)
}

/** Like {@link mix}, with a state that changes in another way. */
export function mixOther(hash: number, word: number): number {
  return Math.imul(hash + word, 0x85ebca6b) ^ (hash >>> 13)
}

/** Returns a hash of a short text. */
export function hashOf(text: string, seed: number): number {
  let hash = seed
  for (let i = 0; i < text.length; i++) hash = mix(hash, text.charCodeAt(i))
  return hash
}

/** Returns two UTF-16 units of a text, both of which it has, as one number. */
export function pairAt(text: string, at: number): number {
  return text.charCodeAt(at) | (text.charCodeAt(at + 1) << 16)
}
