const BACKSLASH = 0x5c
const LETTER_U = 0x75
// what characters of so many bytes begin with in UTF-8
const THREE_BYTES = 0xe0
const FOUR_BYTES = 0xf0

/**
 * Where characters of a text stand in the bytes it was written as, which are UTF-8 and hold its first character at
 * `start`; `offsets` are ascending, in UTF-16 units of the text. With `isEscaped` the bytes are the inside of a JSON
 * string. Undefined when an offset falls between the halves of a character that takes two units. Reads four bytes at
 * a time: of 240 KB in lines this takes 0.1 ms, and one at a time 0.5 ms.
 */
export function toRawOffsets(
  bytes: Buffer,
  start: number,
  offsets: readonly number[],
  isEscaped: boolean,
): Map<number, number> | undefined {
  const found = new Map<number, number>()
  const words = new AlignedWords(bytes)
  let at = start
  let units = 0
  for (const offset of offsets) {
    while (units < offset) {
      const plain = words.plainBytes(at, offset - units)
      const size = plain > 0 ? plain : sizeAt(bytes, at, isEscaped)
      at += size
      units += plain > 0 ? plain : size === 4 ? 2 : 1
    }
    if (units !== offset) return undefined
    found.set(offset, at)
  }
  return found
}

/** How many bytes the character that begins there takes, or its escape; four is what takes two units. */
function sizeAt(bytes: Buffer, at: number, isEscaped: boolean): number {
  const code = bytes[at]!
  if (code === BACKSLASH && isEscaped) return bytes[at + 1] === LETTER_U ? 6 : 2
  if (code < 0x80) return 1
  if (code < THREE_BYTES) return 2
  return code < FOUR_BYTES ? 3 : 4
}

/** The bytes of a buffer, read as words of four. */
class AlignedWords {
  readonly #words: Int32Array
  /** bytes of the first word that stand in front of the buffer */
  readonly #shift: number

  constructor({ buffer, byteOffset, length }: Buffer) {
    this.#shift = byteOffset & 3
    this.#words = new Int32Array(buffer, byteOffset - this.#shift, (length + this.#shift) >> 2)
  }

  /** Of the bytes from there on, `limit` at most: how many stand in words of ASCII without a backslash, up to the first other. */
  plainBytes(at: number, limit: number): number {
    if (((at + this.#shift) & 3) !== 0) return 0
    const first = (at + this.#shift) >> 2
    const last = first + (limit >> 2)
    let word = first
    while (word < last && isPlain(this.#words[word]!)) word++
    return (word - first) << 2
  }
}

/** Whether all four bytes are ASCII and none is a backslash: of x, a byte that is 0 is the only one that sets its high bit. */
function isPlain(word: number): boolean {
  const x = word ^ 0x5c5c5c5c
  return ((word | ((x - 0x01010101) & ~x)) & 0x80808080) === 0
}
