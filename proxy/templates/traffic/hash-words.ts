/** Characters of a text that are read: its begin, its middle and its end. */
const readWhole = 1_024
const readAtBegin = 512
const readElsewhere = 256

/** What a UTF-16 unit is: punctuation, part of a word, or of a script that puts no spaces between words. */
const [sign, letter, unspaced] = [0, 1, 2]
const kinds = new Uint8Array(0x10000).fill(letter)
/** The first and the last of each range. Thai to Burmese, Khmer, kana, Han, Hangul, and Han beyond 16 bits. */
const unspacedRanges = [
  0x0e00, 0x0eff, 0x1000, 0x109f, 0x1780, 0x17ff, 0x3040, 0x30ff, 0x3400, 0x9fff, 0xac00, 0xd7af, 0xd840, 0xdfff,
]
const signRanges = [
  0, 0x2f, 0x3a, 0x40, 0x5b, 0x5e, 0x60, 0x60, 0x7b, 0xbf, 0x2000, 0x206f, 0x2190, 0x2bff, 0x3000, 0x303f, 0xfe30,
  0xfe6f, 0xff00, 0xff0f, 0xff1a, 0xff20,
]
for (let i = 0; i < unspacedRanges.length; i += 2) kinds.fill(unspaced, unspacedRanges[i], unspacedRanges[i + 1]! + 1)
for (let i = 0; i < signRanges.length; i += 2) kinds.fill(sign, signRanges[i], signRanges[i + 1]! + 1)

const shortestWord = 3
const prime = 0x01000193

/** Returns 32-bit hashes of the words of texts, in lower case; of scripts without spaces, of each two characters. */
export function hashWords(...texts: readonly string[]): Set<number> {
  const words = new Set<number>()
  for (const part of texts.flatMap(readParts)) hashPart(part.toLowerCase(), words)
  return words
}

function readParts(text: string): string[] {
  if (text.length <= readWhole) return [text]
  const middle = (text.length - readElsewhere) >> 1
  return [text.slice(0, readAtBegin), text.slice(middle, middle + readElsewhere), text.slice(-readElsewhere)]
}

function hashPart(text: string, words: Set<number>): void {
  let [hash, length, before] = [0, 0, sign]
  for (let i = 0; i <= text.length; i++) {
    const unit = text.charCodeAt(i)
    // behind the end there is no unit
    const kind = kinds[unit] ?? sign
    if (kind === letter) {
      hash = Math.imul(hash ^ unit, prime) + 0x3c6ef35f
      length++
    } else {
      if (length >= shortestWord) words.add(mix(hash))
      hash = length = 0
      if (kind === unspaced && before === unspaced) words.add(mix(Math.imul(text.charCodeAt(i - 1), prime) ^ unit))
    }
    before = kind
  }
}

function mix(hash: number): number {
  let h = hash ^ (hash >>> 15)
  h = Math.imul(h, 0x2c1b3c6d)
  h ^= h >>> 12
  return h | 0
}
