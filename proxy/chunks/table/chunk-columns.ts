import type { ChunkFacts, ChunkRecord } from './chunk-record.ts'

const [sure, orderUnsure, first, last, repeated] = [1, 2, 4, 8, 16]
/** White space at the ends of chunks has so many kinds; longer, or rarer, counts as none. */
const mostEnds = 0xffff
const longestEnd = 64

/** A chunk, and what tells it from one that took its place later. */
export interface ChunkHandle {
  readonly chunk: number
  readonly stamp: number
}

/** How two chunks stood to each other where both were given. */
export interface GivenOrder {
  /** how many places the second stood behind the first */
  readonly places: number
  /** the first was the last of what came together, and the second the first */
  readonly isSeam: boolean
  /** each came alone */
  readonly areAlone: boolean
  /** other chunks were learned at the same time as both */
  readonly isUnsure: boolean
  /** one export held both twice, the second right behind the first and the first right behind the second */
  readonly isEitherWay: boolean
}

/** What is kept of each chunk, in typed columns: 74 bytes. */
export class ChunkColumns {
  readonly anchors: Int32Array
  readonly anchorPlaces: Uint32Array
  readonly lengths: Uint32Array
  readonly hashes: Int32Array
  readonly digests: Int32Array
  readonly scopes: Uint16Array
  /** the last list that it was in without its neighbours in the order given; 0: none */
  readonly lists: Uint32Array
  readonly #flags: Uint8Array
  readonly #leads: Uint16Array
  readonly #tails: Uint16Array
  readonly #sources: Int32Array
  readonly #orders: Uint32Array
  /** where a chunk was given first: texts repeat themselves */
  readonly #firstOrders: Uint32Array
  readonly #ids: Int32Array
  readonly #ends: string[] = ['']
  readonly #endNumbers = new Map<string, number>([['', 0]])

  constructor(capacity: number) {
    this.anchors = new Int32Array(capacity)
    this.anchorPlaces = new Uint32Array(capacity)
    this.lengths = new Uint32Array(capacity)
    this.hashes = new Int32Array(capacity)
    this.digests = new Int32Array(4 * capacity)
    this.scopes = new Uint16Array(capacity)
    this.lists = new Uint32Array(capacity)
    this.#flags = new Uint8Array(capacity)
    this.#leads = new Uint16Array(capacity)
    this.#tails = new Uint16Array(capacity)
    this.#sources = new Int32Array(capacity)
    this.#orders = new Uint32Array(capacity)
    this.#firstOrders = new Uint32Array(capacity)
    this.#ids = new Int32Array(2 * capacity)
  }

  write(chunk: number, scope: number, record: ChunkRecord): void {
    this.anchors[chunk] = record.anchor
    this.anchorPlaces[chunk] = record.anchorPlace
    this.lengths[chunk] = record.length
    this.hashes[chunk] = record.hash
    this.digests.set(record.digest, 4 * chunk)
    this.scopes[chunk] = scope
    this.lists[chunk] = 0
    this.#leads[chunk] = this.#numberOf(record.lead)
    this.#tails[chunk] = this.#numberOf(record.tail)
    this.#flags[chunk] = record.isSure ? sure : 0
    this.#firstOrders[chunk] = record.order
    this.#setOrder(chunk, record)
    this.#ids.set(record.id, 2 * chunk)
  }

  /** A chunk was given once more. */
  learnMore(chunk: number, facts: ChunkFacts): void {
    if (facts.isSure) this.makeSure(chunk)
    // an order goes before none, and what came with others before what came alone
    const isBetter = this.#sources[chunk] === 0 || !(facts.isFirst && facts.isLast)
    const isRepeated = facts.exportOrder !== undefined && this.#firstOrders[chunk]! >= facts.exportOrder
    if (isRepeated && this.#sources[chunk] === facts.source) this.#flags[chunk] = this.#flags[chunk]! | repeated
    if (facts.source !== 0 && isBetter) this.#setOrder(chunk, facts)
    if (facts.id[0] !== 0 || facts.id[1] !== 0) this.#ids.set(facts.id, 2 * chunk)
  }

  read(chunk: number): ChunkRecord {
    const flags = this.#flags[chunk]!
    return {
      length: this.lengths[chunk]!,
      digest: this.digests.slice(4 * chunk, 4 * chunk + 4),
      anchor: this.anchors[chunk]!,
      anchorPlace: this.anchorPlaces[chunk]!,
      hash: this.hashes[chunk]!,
      isSure: (flags & sure) !== 0,
      source: this.#sources[chunk]!,
      order: this.#orders[chunk]!,
      isOrderUnsure: (flags & orderUnsure) !== 0,
      isFirst: (flags & first) !== 0,
      isLast: (flags & last) !== 0,
      id: this.idOf(chunk),
      ...this.endsOf(chunk),
    }
  }

  /** There is none any more. */
  erase(chunk: number): void {
    this.lengths[chunk] = 0
  }

  handleOf(chunk: number): ChunkHandle {
    return { chunk, stamp: this.digests[4 * chunk]! }
  }

  isThere({ chunk, stamp }: ChunkHandle): boolean {
    return this.lengths[chunk] !== 0 && this.digests[4 * chunk] === stamp
  }

  isSure(chunk: number): boolean {
    return (this.#flags[chunk]! & sure) !== 0
  }

  makeSure(chunk: number): void {
    this.#flags[chunk] = this.#flags[chunk]! | sure
  }

  /** White space at the ends of a chunk as it was given. */
  endsOf(chunk: number): { readonly lead: string; readonly tail: string } {
    return { lead: this.#ends[this.#leads[chunk]!]!, tail: this.#ends[this.#tails[chunk]!]! }
  }

  idOf(chunk: number): readonly [number, number] {
    return [this.#ids[2 * chunk]!, this.#ids[2 * chunk + 1]!]
  }

  /** Undefined: they were not given by one source. */
  orderOf(from: number, to: number): GivenOrder | undefined {
    const source = this.#sources[from]!
    if (source === 0 || source !== this.#sources[to]) return undefined
    const [own, other] = [this.#flags[from]!, this.#flags[to]!]
    return {
      places: this.#placesBetween(from, to),
      isSeam: (own & last) !== 0 && (other & first) !== 0,
      areAlone: (own & other & (first | last)) === (first | last),
      isUnsure: (own & other & orderUnsure) !== 0,
      isEitherWay: (own & other & repeated) !== 0 && this.#isBehind(from, to) && this.#isBehind(to, from),
    }
  }

  /** Where each was given last, unless one stood right behind the other before. */
  #placesBetween(from: number, to: number): number {
    return this.#isBehind(from, to) ? 1 : this.#orders[to]! - this.#orders[from]!
  }

  #isBehind(from: number, to: number): boolean {
    const behind = [this.#firstOrders[from]! + 1, this.#orders[from]! + 1]
    return behind.includes(this.#firstOrders[to]!) || behind.includes(this.#orders[to]!)
  }

  #setOrder(chunk: number, facts: ChunkFacts): void {
    if (this.#sources[chunk] !== facts.source) this.#firstOrders[chunk] = facts.order
    this.#sources[chunk] = facts.source
    this.#orders[chunk] = facts.order
    const ends = (facts.isFirst ? first : 0) | (facts.isLast ? last : 0)
    this.#flags[chunk] = (this.#flags[chunk]! & (sure | repeated)) | (facts.isOrderUnsure ? orderUnsure : 0) | ends
  }

  #numberOf(end: string): number {
    if (end.length > longestEnd) return 0
    const known = this.#endNumbers.get(end)
    if (known !== undefined || this.#ends.length > mostEnds) return known ?? 0
    this.#endNumbers.set(end, this.#ends.length)
    return this.#ends.push(end) - 1
  }
}
