import { hash } from 'node:crypto'
import { isSpace } from '../../prompt/scan/find-edges.ts'

/** Folded characters that a chunk is looked up by, wherever in it they stand. */
export const anchorLength = 32

/** A longer text is not searched: its folded form takes ten bytes a character, for as long as the proxy lives. */
export const longestText: number = 4 << 20

const [sign, word, space] = [0, 1, 2]
const base = 0x2f0b4c47
/** Beyond it a power of `base` is worked out each time. */
const longestKeptPower = 1 << 14
const powers: number[] = [1]
const anchorPower = powerOf(anchorLength)

/**
 * A text with every run of white space as one space, and none at its ends. To it are the same what an embedding client
 * sends that writes spaces for line ends, and what a template prints that trims its documents. Hashes of any stretch
 * take constant time. The memory of one text is used for the next.
 */
export class FoldedText {
  length = 0
  /** where words begin and signs behind white space, ascending: anchors are looked for nowhere else */
  starts: Uint32Array = new Uint32Array(0)
  startCount = 0
  /** by start: where it stands in the text */
  #places = new Uint32Array(0)
  #units = new Uint16Array(0)
  #hashes = new Int32Array(1)

  /** Where the folded character at `at`, which is no space, stands in the text. */
  placeOf(at: number): number {
    let low = 0
    let high = this.startCount
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.starts[middle]! <= at) low = middle + 1
      else high = middle
    }
    // there is no white space between a start and the next but for what ends before it
    return this.#places[low - 1]! + at - this.starts[low - 1]!
  }

  /** Whether it begins with neither a letter nor a digit. */
  get beginsWithSign(): boolean {
    return this.length > 0 && kinds[this.#units[0]!] === sign
  }

  /** A hash of `length` folded characters: where it differs, they do. */
  hashOf(start: number, length: number): number {
    return (this.#hashes[start + length]! - Math.imul(this.#hashes[start]!, powerOf(length))) | 0
  }

  /** The same of as many as an anchor has. */
  anchorAt(start: number): number {
    return (this.#hashes[start + anchorLength]! - Math.imul(this.#hashes[start]!, anchorPower)) | 0
  }

  /** SHA-256 of folded characters: where it is equal, they are. */
  digestOf(start: number, length: number): Buffer {
    return hash('sha256', new Uint8Array(this.#units.buffer, 2 * start, 2 * length), 'buffer')
  }

  /** Takes in a text; what was held before is gone. */
  read(text: string): void {
    this.#reserve(text.length)
    const { starts } = this
    const [units, hashes, places] = [this.#units, this.#hashes, this.#places]
    const kindOf = kinds
    const factor = base
    let length = 0
    let startCount = 0
    let sum = 0
    // white space in front of everything is dropped
    let behind = 2
    for (let at = 0; at < text.length; at++) {
      let unit = text.charCodeAt(at)
      const kind = kindOf[unit]!
      // names of a module's constants are looked up each time: 0.4 ms in 240 KB
      if (kind === 2) {
        if (behind === 2) continue
        unit = 32
      } else if (behind === 2 || (kind === 1 && behind === 0)) {
        places[startCount] = at
        starts[startCount++] = length
      }
      behind = kind
      units[length] = unit
      sum = (Math.imul(sum, factor) + unit + 1) | 0
      hashes[++length] = sum
    }
    this.length = behind === space && length > 0 ? length - 1 : length
    this.startCount = startCount
  }

  #reserve(length: number): void {
    if (this.#units.length >= length) return
    const size = Math.max(length, 2 * this.#units.length, 4096)
    this.#units = new Uint16Array(size)
    this.#hashes = new Int32Array(size + 1)
    this.starts = new Uint32Array(size)
    this.#places = new Uint32Array(size)
  }
}

/** Of every UTF-16 code unit: a sign, part of a word, or white space. */
const kinds = Uint8Array.from({ length: 1 << 16 }, (_, unit) => {
  if (isSpace(unit)) return space
  if (unit < 128) return /[A-Za-z0-9]/.test(String.fromCharCode(unit)) ? word : sign
  // punctuation of Latin and of East Asian texts, behind which a document can begin without a space
  const isSign = (unit >= 0x2010 && unit <= 0x206f) || (unit >= 0x3001 && unit <= 0x303f) || unit >= 0xff01
  return isSign ? sign : word
})

function powerOf(length: number): number {
  if (length <= longestKeptPower) {
    while (powers.length <= length) powers.push(Math.imul(powers.at(-1)!, base))
    return powers[length]!
  }
  let power = 1
  let square = base
  for (let rest = length; rest > 0; rest >>>= 1) {
    if (rest & 1) power = Math.imul(power, square)
    square = Math.imul(square, square)
  }
  return power
}
