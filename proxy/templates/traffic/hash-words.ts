/** Characters of a text that are read: its begin, its middle and its end. */
const readWhole = 1_024
const readAtBegin = 512
const readElsewhere = 256
const shortestWord = 3

/** Adds 32-bit hashes of a text's words, in lower case, to `words`; of scripts without spaces, of each two characters. */
export function hashWords(text: string, words: Set<number>): void {
  const middle = (text.length - readElsewhere) >> 1
  const parts =
    text.length <= readWhole
      ? [text]
      : [text.slice(0, readAtBegin), text.slice(middle, middle + readElsewhere), text.slice(-readElsewhere)]
  // a gap ends the last word of each part
  for (const part of parts) hashPart(`${part.toLowerCase()} `, words)
}

function hashPart(text: string, words: Set<number>): void {
  let hash = 0
  let length = 0
  let before = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    const kind = code < 128 ? asciiKinds[code]! : kindOf(code)
    if (kind === letter) {
      hash = Math.imul(hash ^ code, 0x01000193) + 0x3c6ef35f
      length++
      continue
    }
    if (length >= shortestWord) words.add(mix(hash))
    hash = length = 0
    if (kind === ideograph && before !== 0) words.add(mix(Math.imul(before, 0x01000193) ^ code))
    before = kind === ideograph ? code : 0
  }
}

const gap = 0
const letter = 1
const ideograph = 2

const asciiKinds = Uint8Array.from({ length: 128 }, (_, code) =>
  /[a-z0-9_]/.test(String.fromCharCode(code)) ? letter : gap,
)

/** Scripts that put no spaces between words: Thai to Burmese, Khmer, kana, Han, Hangul, and Han beyond 16 bits. */
const unspaced = [
  [0x0e00, 0x0eff],
  [0x1000, 0x109f],
  [0x1780, 0x17ff],
  [0x3040, 0x30ff],
  [0x3400, 0x9fff],
  [0xac00, 0xd7af],
  [0xd840, 0xdfff],
] as const
const punctuation = [
  [0x0080, 0x00bf],
  [0x2000, 0x206f],
  [0x2190, 0x2bff],
  [0x3000, 0x303f],
  [0xfe30, 0xfe6f],
  [0xff00, 0xff0f],
  [0xff1a, 0xff20],
] as const

function kindOf(code: number): number {
  const isIn = ([from, to]: readonly [number, number]): boolean => code >= from && code <= to
  if (unspaced.some(isIn)) return ideograph
  return punctuation.some(isIn) ? gap : letter
}

function mix(hash: number): number {
  let h = hash ^ (hash >>> 15)
  h = Math.imul(h, 0x2c1b3c6d)
  h ^= h >>> 12
  return h | 0
}
