const slots = 1 << 17
const words = 4

/**
 * The text of digests as they are written in bytes: 16 of them as base64url. What was read lately is not made again, as
 * few blocks are in many prompts; and equal strings that are one are found sooner in a map.
 */
export class DigestTexts {
  readonly #words = new Int32Array(slots * words)
  readonly #texts: (string | undefined)[] = new Array(slots).fill(undefined)

  /** The text of the 16 bytes from `at` on. */
  read(bytes: Buffer, at: number): string {
    const first = bytes.readInt32LE(at)
    const slot = first & (slots - 1)
    const known = this.#texts[slot]
    if (known !== undefined && this.#holds(slot, bytes, at)) return known
    const text = bytes.toString('base64url', at, at + 16)
    for (let i = 0; i < words; i++) this.#words[slot * words + i] = bytes.readInt32LE(at + 4 * i)
    this.#texts[slot] = text
    return text
  }

  #holds(slot: number, bytes: Buffer, at: number): boolean {
    for (let i = 0; i < words; i++) if (this.#words[slot * words + i] !== bytes.readInt32LE(at + 4 * i)) return false
    return true
  }
}
