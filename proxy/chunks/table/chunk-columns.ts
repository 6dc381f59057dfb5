import type { ChunkHandle } from '../../prompt/certain-list.ts'
import { type ChunkFacts, type ChunkRecord, chunkFlags } from './chunk-record.ts'

const { sure, orderUnsure, first, last, repeated, apart } = chunkFlags
/** How many kinds of white space at the ends of chunks are kept; longer or later ones count as none. */
const mostEnds = 0xffff
const longestEnd = 64

/** How two chunks were placed when they were given. */
export interface GivenOrder {
  /** how many places the second came after the first, at last; 1 if it was ever right behind it */
  readonly places: number
  /** the first chunk was the last of its batch, and the second the first of its batch */
  readonly isSeam: boolean
  /** each came alone */
  readonly areAlone: boolean
  /** other chunks were learned at the same time as both */
  readonly isUnsure: boolean
  /** one export contained both twice, each once right after the other */
  readonly isEitherWay: boolean
}

/** The words of a chunk, by content. */
const words = 16
const [anchorWord, placeWord, lengthWord, hashWord, digestWord] = [0, 1, 2, 3, 4]
const [sourceWord, orderWord, firstOrderWord, sightingWord, idWord] = [8, 9, 10, 11, 12]
/** its scope, with its flags in the upper 16 bits */
const scopeWord = 14
/** the numbers of the white space at its ends */
const endsWord = 15

/**
 * What is kept of each chunk: 64 bytes, one line of a processor's cache. Waiting for a cache line takes longer than all
 * the work on it.
 */
export class ChunkColumns {
  readonly #words: Int32Array
  readonly #ends: string[] = ['']
  readonly #endNumbers = new Map<string, number>([['', 0]])

  constructor(capacity: number) {
    this.#words = new Int32Array(words * capacity)
  }

  anchorOf(chunk: number): number {
    return this.#words[words * chunk + anchorWord]!
  }

  anchorPlaceOf(chunk: number): number {
    return this.#words[words * chunk + placeWord]!
  }

  lengthOf(chunk: number): number {
    return this.#words[words * chunk + lengthWord]!
  }

  scopeOf(chunk: number): number {
    return this.#words[words * chunk + scopeWord]! & 0xffff
  }

  /** The first word of its digest. */
  stampOf(chunk: number): number {
    return this.#words[words * chunk + digestWord]!
  }

  /** A hash of the whole chunk. */
  hashOf(chunk: number): number {
    return this.#words[words * chunk + hashWord]!
  }

  hasDigest(chunk: number, digest: Int32Array): boolean {
    const at = words * chunk + digestWord
    const all = this.#words
    return all[at] === digest[0] && all[at + 1] === digest[1] && all[at + 2] === digest[2] && all[at + 3] === digest[3]
  }

  /** Where it was seen last (`ChunkRecord.sighting`); 0: nowhere. */
  sightingOf(chunk: number): number {
    return this.#words[words * chunk + sightingWord]! >>> 0
  }

  /** Whether it was seen with different questions among different neighbours. */
  isApart(chunk: number): boolean {
    return (this.#flagsOf(chunk) & apart) !== 0
  }

  /** Notes where it was seen. If question and neighbours differ from the last time, it is a chunk for sure. */
  see(chunk: number, sighting: number): void {
    const before = this.sightingOf(chunk)
    const differs = before !== 0 && before >>> 16 !== sighting >>> 16 && ((before ^ sighting) & 0xffff) !== 0
    if (differs) this.#add(chunk, sure | apart)
    this.#words[words * chunk + sightingWord] = sighting
  }

  write(chunk: number, scope: number, record: ChunkRecord): void {
    const at = words * chunk
    const all = this.#words
    all[at + anchorWord] = record.anchor
    all[at + placeWord] = record.anchorPlace
    all[at + lengthWord] = record.length
    all[at + hashWord] = record.hash
    all.set(record.digest, at + digestWord)
    all[at + scopeWord] = scope
    all[at + sightingWord] = record.sighting
    all[at + endsWord] = this.#numberOf(record.lead) | (this.#numberOf(record.tail) << 16)
    this.#add(chunk, record.flags & (sure | apart))
    all[at + firstOrderWord] = record.order
    this.#setOrder(chunk, record)
    all.set(record.id, at + idWord)
  }

  /** Updates a chunk that was given again. */
  learnMore(chunk: number, facts: ChunkFacts & Partial<Pick<ChunkRecord, 'sighting'>>): void {
    this.#add(chunk, facts.flags & (sure | apart))
    if (facts.sighting) this.see(chunk, facts.sighting)
    const source = this.#sourceOf(chunk)
    // any order is better than none, and being given with others is better than being given alone
    const isBetter = source === 0 || (facts.flags & (first | last)) !== (first | last)
    const isRepeated = facts.exportOrder !== undefined && this.#firstOrderOf(chunk) >= facts.exportOrder
    if (isRepeated && source === facts.source) this.#add(chunk, repeated)
    if (facts.source !== 0 && isBetter) this.#setOrder(chunk, facts)
    if (facts.id[0] !== 0 || facts.id[1] !== 0) this.#words.set(facts.id, words * chunk + idWord)
  }

  read(chunk: number): ChunkRecord {
    const digestAt = words * chunk + digestWord
    return {
      length: this.lengthOf(chunk),
      digest: this.#words.slice(digestAt, digestAt + 4),
      anchor: this.anchorOf(chunk),
      anchorPlace: this.anchorPlaceOf(chunk),
      hash: this.hashOf(chunk),
      sighting: this.sightingOf(chunk),
      // what is repeated is so here alone
      flags: this.#flagsOf(chunk) & ~repeated,
      source: this.#sourceOf(chunk),
      order: this.#orderOf(chunk),
      id: this.idOf(chunk),
      ...this.endsOf(chunk),
    }
  }

  /** Marks the chunk's place as empty. */
  erase(chunk: number): void {
    this.#words[words * chunk + lengthWord] = 0
  }

  handleOf(chunk: number): ChunkHandle {
    return { chunk, stamp: this.stampOf(chunk) }
  }

  isThere({ chunk, stamp }: ChunkHandle): boolean {
    return this.lengthOf(chunk) !== 0 && this.stampOf(chunk) === stamp
  }

  /** Whether it was given in an order: a rerank has none. */
  isOrdered(chunk: number): boolean {
    return this.#sourceOf(chunk) !== 0
  }

  isSure(chunk: number): boolean {
    return (this.#flagsOf(chunk) & sure) !== 0
  }

  makeSure(chunk: number): void {
    this.#add(chunk, sure)
  }

  /** White space at the ends of a chunk, as it was given. */
  endsOf(chunk: number): { readonly lead: string; readonly tail: string } {
    const numbers = this.#words[words * chunk + endsWord]!
    return { lead: this.#ends[numbers & 0xffff]!, tail: this.#ends[numbers >>> 16]! }
  }

  idOf(chunk: number): readonly [number, number] {
    const at = words * chunk + idWord
    return [this.#words[at]!, this.#words[at + 1]!]
  }

  /** Returns how two chunks were placed when they were given; undefined if they do not come from one source. */
  orderOf(from: number, to: number): GivenOrder | undefined {
    const source = this.#sourceOf(from)
    if (source === 0 || source !== this.#sourceOf(to)) return undefined
    const [own, other] = [this.#flagsOf(from), this.#flagsOf(to)]
    const isNext = this.#isBehind(from, to)
    return {
      // the distance between their last places, unless the second was ever right after the first
      places: isNext ? 1 : this.#orderOf(to) - this.#orderOf(from),
      isSeam: (own & last) !== 0 && (other & first) !== 0,
      areAlone: (own & other & (first | last)) === (first | last),
      isUnsure: (own & other & orderUnsure) !== 0,
      isEitherWay: (own & other & repeated) !== 0 && isNext && this.#isBehind(to, from),
    }
  }

  #isBehind(from: number, to: number): boolean {
    const behind = [this.#firstOrderOf(from) + 1, this.#orderOf(from) + 1]
    return behind.includes(this.#firstOrderOf(to)) || behind.includes(this.#orderOf(to))
  }

  #setOrder(chunk: number, facts: ChunkFacts): void {
    const at = words * chunk
    if (this.#sourceOf(chunk) !== facts.source) this.#words[at + firstOrderWord] = facts.order
    this.#words[at + sourceWord] = facts.source
    this.#words[at + orderWord] = facts.order
    this.#words[at + scopeWord]! &= ~((orderUnsure | first | last) << 16)
    this.#add(chunk, facts.flags & (orderUnsure | first | last))
  }

  #sourceOf(chunk: number): number {
    return this.#words[words * chunk + sourceWord]!
  }

  #orderOf(chunk: number): number {
    return this.#words[words * chunk + orderWord]! >>> 0
  }

  /** The place where it was given first: texts repeat themselves. */
  #firstOrderOf(chunk: number): number {
    return this.#words[words * chunk + firstOrderWord]! >>> 0
  }

  #flagsOf(chunk: number): number {
    return this.#words[words * chunk + scopeWord]! >>> 16
  }

  #add(chunk: number, flags: number): void {
    this.#words[words * chunk + scopeWord]! |= flags << 16
  }

  #numberOf(end: string): number {
    if (end.length > longestEnd) return 0
    const known = this.#endNumbers.get(end)
    if (known !== undefined || this.#ends.length > mostEnds) return known ?? 0
    this.#endNumbers.set(end, this.#ends.length)
    return this.#ends.push(end) - 1
  }
}
