/** Characters of a text that are read: its begin, its middle and its end. */
const readWhole = 1_024
const readAtBegin = 512
const readElsewhere = 256

/** Scripts that put no spaces between words: Thai to Burmese, Khmer, kana, Han, Hangul, and Han beyond 16 bits. */
const unspaced =
  '\\u0e00-\\u0eff\\u1000-\\u109f\\u1780-\\u17ff\\u3040-\\u30ff\\u3400-\\u9fff\\uac00-\\ud7af\\ud840-\\udfff'
const punctuation =
  '\\0-/:-@[-^`{-\\u00bf\\u2000-\\u206f\\u2190-\\u2bff\\u3000-\\u303f\\ufe30-\\ufe6f\\uff00-\\uff0f\\uff1a-\\uff20'
/** A word of three letters or more, or two characters without a space between them; these may overlap. */
const WORD = new RegExp(`[^${unspaced}${punctuation}]{3,}|[${unspaced}](?=([${unspaced}]))`, 'g')

/** Adds 32-bit hashes of a text's words, in lower case, to `words`; of scripts without spaces, of each two characters. */
export function hashWords(text: string, words: Set<number>): void {
  const middle = (text.length - readElsewhere) >> 1
  const parts =
    text.length <= readWhole
      ? [text]
      : [text.slice(0, readAtBegin), text.slice(middle, middle + readElsewhere), text.slice(-readElsewhere)]
  for (const part of parts)
    for (const [word, next] of part.toLowerCase().matchAll(WORD))
      words.add(mix(next === undefined ? hashOf(word) : Math.imul(word.charCodeAt(0), prime) ^ next.charCodeAt(0)))
}

const prime = 0x01000193

function hashOf(word: string): number {
  let hash = 0
  for (let i = 0; i < word.length; i++) hash = Math.imul(hash ^ word.charCodeAt(i), prime) + 0x3c6ef35f
  return hash
}

function mix(hash: number): number {
  let h = hash ^ (hash >>> 15)
  h = Math.imul(h, 0x2c1b3c6d)
  h ^= h >>> 12
  return h | 0
}
