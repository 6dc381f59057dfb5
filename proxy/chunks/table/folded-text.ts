import { hash } from 'node:crypto'
import { countUpTo } from '#index/count-up-to.ts'
import { isSpace } from '../../prompt/scan/find-edges.ts'

/** Number of folded characters that a chunk is looked up by, wherever in the chunk they are. */
export const anchorLength = 32

/** Longer texts are not searched: the folded form takes 14 bytes per character, for the life of the proxy. */
export const longestText: number = 4 << 20

const [sign, word, space] = [0, 1, 2]
/** A bit for each pair of adjacent kinds at which a start is: anything after white space, and a word after a symbol. */
const beginnings = (1 << (4 * space + sign)) | (1 << (4 * space + word)) | (1 << (4 * sign + word))
const base = 0x2f0b4c47
const anchorPower = powerOf(anchorLength)

/**
 * A text with every run of white space as one space, and none at its ends. An embedding client that writes spaces for
 * line ends, and a template that trims its documents, thus yield the same text. A hash of any stretch takes a few steps,
 * whatever its length. Memory is reused from one text to the next.
 */
export class FoldedText {
  length = 0
  /** where words begin, and symbols after white space, ascending: anchors are looked for nowhere else */
  starts: Uint32Array = new Uint32Array(0)
  startCount = 0
  /** for each character that was left out, the number of folded ones before it */
  #dropped = new Uint32Array(0)
  #droppedCount = 0
  #units = new Uint16Array(0)
  #hashes = new Int32Array(1)

  /** Returns where in the text the folded character at `at`, which is no space, is. */
  placeOf(at: number): number {
    return at + countUpTo(this.#dropped, at, this.#droppedCount)
  }

  /** Whether it begins with neither a letter nor a digit. */
  get beginsWithSign(): boolean {
    return this.length > 0 && kinds[this.#units[0]!] === sign
  }

  /** Returns a hash of `length` folded characters: if it differs, they do. */
  hashOf(start: number, length: number): number {
    return (this.#hashes[start + length]! - Math.imul(this.#hashes[start]!, powerOf(length))) | 0
  }

  /** Number of starts that are followed by enough characters for an anchor. */
  get anchorCount(): number {
    let count = this.startCount
    while (count > 0 && this.starts[count - 1]! + anchorLength > this.length) count--
    return count
  }

  /** Returns the same hash for as many characters as an anchor has. */
  anchorAt(start: number): number {
    return (this.#hashes[start + anchorLength]! - Math.imul(this.#hashes[start]!, anchorPower)) | 0
  }

  /** Returns 128 bits of the SHA-256 of folded characters, in four words: if they are equal, the characters are. */
  digestOf(start: number, length: number): Int32Array {
    const digest = hash('sha256', new Uint8Array(this.#units.buffer, 2 * start, 2 * length), 'buffer')
    return Int32Array.of(digest.readInt32LE(0), digest.readInt32LE(4), digest.readInt32LE(8), digest.readInt32LE(12))
  }

  /** Reads a text, in place of the one held before. */
  read(text: string): void {
    this.#reserve(text.length)
    const { starts } = this
    const [units, hashes, dropped] = [this.#units, this.#hashes, this.#dropped]
    // local names: those of a module are looked up each time
    const [formOf, factor] = [forms, base]
    let length = 0
    let startCount = 0
    let droppedCount = 0
    let sum = 0
    // leading white space is dropped
    let behind = space
    for (let at = 0; at < text.length; at++) {
      const form = formOf[text.charCodeAt(at)]!
      const kind = form >>> 16
      if ((kind & behind) === 2) {
        dropped[droppedCount++] = length
        continue
      }
      // no branch: where words begin cannot be predicted
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

/** The kind of every UTF-16 code unit: a symbol, part of a word, or white space. */
const kinds = Uint8Array.from({ length: 1 << 16 }, (_, unit) => {
  if (isSpace(unit)) return space
  if (unit < 128) return /[A-Za-z0-9]/.test(String.fromCharCode(unit)) ? word : sign
  // punctuation of Latin and East Asian texts, after which a document can begin without a space
  const isSign = (unit >= 0x2010 && unit <= 0x206f) || (unit >= 0x3001 && unit <= 0x303f) || unit >= 0xff01
  return isSign ? sign : word
})

/** What each UTF-16 code unit is folded to, with its kind in the upper 16 bits. */
const forms = Uint32Array.from(kinds, (kind, unit) => (kind << 16) | (kind === space ? 32 : unit))

/** Returns a power of `base`, in a few steps whatever the length. */
function powerOf(length: number): number {
  let power = 1
  let square = base
  for (let rest = length; rest > 0; rest >>>= 1) {
    if (rest & 1) power = Math.imul(power, square)
    square = Math.imul(square, square)
  }
  return power
}
