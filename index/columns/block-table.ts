import type { BlockId, Context } from '../context-block.ts'
import { Digests, readDigest } from '../digests.ts'
import { WholeColumn } from './number-column.ts'
import { NumberTable } from './number-table.ts'

const wordsPerDigest = 4
const usesAt = wordsPerDigest
const rowLength = 8

/**
 * The blocks known to an index, as small integers, so that data about blocks can be stored in arrays. Numbers are
 * reference-counted, and a number no longer used is given to another block.
 */
export class BlockTable<Id extends string = BlockId> {
  readonly #ids: (Id | undefined)[] = []
  /** by number: digest of the id and use count, side by side because they are read together */
  readonly #rows = new WholeColumn()
  /** blocks whose ids are digests */
  readonly #table = new NumberTable()
  /** the few blocks with other ids */
  readonly #others = new Map<Id, number>()
  readonly #free: number[] = []
  /** digest of the id being looked up */
  readonly #asked = new Int32Array(wordsPerDigest)
  #size = 0
  /** hash seed for digests, so that nobody can choose many that collide */
  readonly secret: number

  /** `secret`: any 32-bit integer; it does not affect results. */
  constructor(secret = 0) {
    this.secret = secret
  }

  /** Number of blocks in use. */
  get size(): number {
    return this.#size
  }

  /** Returns the number of a block; −1 if it is not in use. */
  find(id: Id): number {
    if (!readDigest(id, this.#asked)) return this.#others.get(id) ?? -1
    const hash = this.#hashAsked()
    let number = this.#table.first(hash)
    while (number >= 0 && this.#ids[number] !== id) number = this.#table.next(hash)
    return number
  }

  /** Returns the block of a number in use. */
  idOf(number: number): Id {
    return this.#ids[number]!
  }

  /** Returns the number of a block, new if necessary, and adds a use. */
  acquire(id: Id): number {
    const known = this.find(id)
    if (known < 0) return this.#add(id)
    this.retain(known)
    return known
  }

  /** Adds a use of a block in use. */
  retain(number: number): void {
    this.#rows.add(number * rowLength + usesAt, 1)
  }

  /** Removes a use. Returns true if it was the last. */
  release(number: number): boolean {
    const at = number * rowLength + usesAt
    this.#rows.add(at, -1)
    if (this.#rows.at(at) > 0) return false
    if (!this.#others.delete(this.#ids[number]!)) {
      for (let k = 0; k < wordsPerDigest; k++) this.#asked[k] = this.#rows.at(number * rowLength + k)
      this.#table.delete(this.#hashAsked(), number)
    }
    this.#ids[number] = undefined
    this.#size -= 1
    this.#free.push(number)
    return true
  }

  /**
   * Returns the numbers of blocks given by digest, with −1 for those not in use. Looking them all up in one loop lets
   * the memory accesses overlap.
   */
  protected findDigests(digests: Digests): number[] {
    const numbers: number[] = []
    for (let i = 0; i < digests.length; i++) {
      numbers.push(this.#table.first(this.#hashOf(digests, i)))
    }
    for (let i = 0; i < digests.length; i++) {
      const isThere = numbers[i]! < 0 || this.#isDigest(numbers[i]!, digests, i)
      if (!isThere) numbers[i] = this.#findDigest(digests, i)
    }
    return numbers
  }

  #findDigest(digests: Digests, i: number): number {
    const hash = this.#hashOf(digests, i)
    let number = this.#table.first(hash)
    while (number >= 0 && !this.#isDigest(number, digests, i)) number = this.#table.next(hash)
    return number
  }

  #isDigest(number: number, digests: Digests, i: number): boolean {
    const start = number * rowLength
    for (let k = 0; k < wordsPerDigest; k++) if (this.#rows.at(start + k) !== digests.wordOf(i, k)) return false
    return true
  }

  #hashOf(digests: Digests, i: number): number {
    let hash = this.secret
    for (let k = 0; k < wordsPerDigest; k++) hash = mixed(hash, digests.wordOf(i, k))
    return hash
  }

  #hashAsked(): number {
    let hash = this.secret
    for (let k = 0; k < wordsPerDigest; k++) hash = mixed(hash, this.#asked[k]!)
    return hash
  }

  #add(id: Id): number {
    const number = this.#free.pop() ?? this.#ids.length
    this.#ids[number] = id
    this.#rows.reserve((number + 1) * rowLength)
    this.#rows.set(number * rowLength + usesAt, 1)
    if (readDigest(id, this.#asked)) {
      for (let k = 0; k < wordsPerDigest; k++) this.#rows.set(number * rowLength + k, this.#asked[k]!)
      this.#table.add(this.#hashAsked(), number)
    } else this.#others.set(id, number)
    this.#size += 1
    return number
  }
}

/**
 * The blocks of several indexes, with their numbers, sizes and scratch space for queries. A block that many indexes
 * share is looked up and stored once.
 */
export class SharedBlocks extends BlockTable {
  /** by number: size in characters, as the first user gave it; equal contents differ in size only by their labels */
  readonly sizes: number[] = []
  /** scratch by number; users leave it all 0 */
  readonly firstRank: number[] = []
  readonly indexOfBlock: number[] = []

  /** Estimated memory. */
  get bytes(): number {
    return this.size * bytesPerBlock
  }

  /** Like `acquire`, and sets the size of a new block. */
  acquireSized(id: BlockId, size: number): number {
    const known = this.size
    const number = this.acquire(id)
    if (this.size > known) this.sizes[number] = size
    return number
  }

  /** Like `acquireSized` for several blocks, given by name or as digests. */
  acquireAll(blocks: Context | Digests, sizes: readonly number[]): number[] {
    if (!(blocks instanceof Digests)) return blocks.map((block, i) => this.acquireSized(block, sizes[i]!))
    const numbers = this.findDigests(blocks)
    for (let i = 0; i < numbers.length; i++) {
      if (numbers[i]! < 0) numbers[i] = this.acquireSized(blocks.nameOf(i), sizes[i]!)
      else this.retain(numbers[i]!)
    }
    return numbers
  }
}

function mixed(hash: number, word: number): number {
  const product = Math.imul(hash ^ word, 0x9e3779b1)
  return product ^ (product >>> 15)
}

// measured on Node 20, with ids of 22 characters
const bytesPerBlock = 130
