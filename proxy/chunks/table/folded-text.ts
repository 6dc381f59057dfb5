import { hash } from 'node:crypto'
import { isSpace } from '../../prompt/scan/find-edges.ts'

/** Folded characters that a chunk is looked up by, wherever in it they stand. */
export const anchorLength = 32

/** A longer text is not searched: its folded form takes ten bytes a character, for as long as the proxy lives. */
export const longestText: number = 4 << 20

const [sign, word, space] = [0, 1, 2]
/** A bit for each kind behind each other at which a start is: one behind white space, and a word behind a sign. */
const beginnings = (1 << (4 * space + sign)) | (1 << (4 * space + word)) | (1 << (4 * sign + word))
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
  /** for each character that was left out, how many folded ones were in front of it */
  #dropped = new Uint32Array(0)
  #droppedCount = 0
  #units = new Uint16Array(0)
  #hashes = new Int32Array(1)

  /** Where the folded character at `at`, which is no space, stands in the text. */
  placeOf(at: number): number {
    let low = 0
    let high = this.#droppedCount
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#dropped[middle]! <= at) low = middle + 1
      else high = middle
    }
    return at + low
  }

  /** Whether it begins with neither a letter nor a digit. */
  get beginsWithSign(): boolean {
    return this.length > 0 && kinds[this.#units[0]!] === sign
  }

  /** A hash of `length` folded characters: where it differs, they do. */
  hashOf(start: number, length: number): number {
    return (this.#hashes[start + length]! - Math.imul(this.#hashes[start]!, powerOf(length))) | 0
  }

  /** How many starts have as many characters from there on as an anchor. */
  get anchorCount(): number {
    let count = this.startCount
    while (count > 0 && this.starts[count - 1]! + anchorLength > this.length) count--
    return count
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
    const [units, hashes, dropped] = [this.#units, this.#hashes, this.#dropped]
    // a name of the module is looked up each time
    const [formOf, factor] = [forms, base]
    let length = 0
    let startCount = 0
    let droppedCount = 0
    let sum = 0
    // white space in front of everything is dropped
    let behind = space
    for (let at = 0; at < text.length; at++) {
      const form = formOf[text.charCodeAt(at)]!
      const kind = form >>> 16
      if ((kind & behind) === 2) {
        dropped[droppedCount++] = length
        continue
      }
      // no branch: where words begin cannot be foreseen
      starts[startCount] = length
      startCount += (beginnings >>> ((behind << 2) | kind)) & 1
      behind = kind
      const unit = form & 0xffff
      units[length] = unit
      sum = (Math.imul(sum, factor) + unit + 1) | 0
      hashes[++length] = sum
    }
    this.length = behind === space && length > 0 ? length - 1 : length
    this.startCount = startCount
    this.#droppedCount = droppedCount
  }

  #reserve(length: number): void {
    if (this.#units.length >= length) return
    const size = Math.max(length, 2 * this.#units.length, 4096)
    this.#units = new Uint16Array(size)
    this.#hashes = new Int32Array(size + 1)
    this.starts = new Uint32Array(size)
    this.#dropped = new Uint32Array(size)
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

/** What each UTF-16 code unit is folded to, its kind above. */
const forms = Uint32Array.from(kinds, (kind, unit) => (kind << 16) | (kind === space ? 32 : unit))

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
