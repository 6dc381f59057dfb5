import type { BlockId, Context } from '../context-block.ts'
import { Digests, readDigest } from '../digests.ts'
import { WholeColumn } from './number-column.ts'
import { NumberTable } from './number-table.ts'

const wordsPerDigest = 4
const usesAt = wordsPerDigest
const rowLength = 8

/**
 * The blocks an index knows, as small whole numbers: what is kept for a block lies in arrays. A number lives as long
 * as somebody uses it and is then given to another block.
 */
export class BlockTable<Id extends string = BlockId> {
  readonly #ids: (Id | undefined)[] = []
  /** by number, side by side as they are read together: the digest that the id is, and how often it is used */
  readonly #rows = new WholeColumn()
  /** those whose ids are digests */
  readonly #table = new NumberTable()
  /** those whose ids are anything else, which few are */
  readonly #others = new Map<Id, number>()
  readonly #free: number[] = []
  /** of the id that is looked up */
  readonly #asked = new Int32Array(wordsPerDigest)
  #size = 0
  /** what digests are hashed with, so that nobody can choose many that lie in each other's way */
  readonly secret: number

  /** `secret`: any whole number of 32 bits; nothing that is told depends on it. */
  constructor(secret = 0) {
    this.secret = secret
  }

  /** How many blocks are in use. */
  get size(): number {
    return this.#size
  }

  /** The number of a block; −1 when it is not in use. */
  find(id: Id): number {
    if (!readDigest(id, this.#asked)) return this.#others.get(id) ?? -1
    const hash = this.#hashAsked()
    let number = this.#table.first(hash)
    while (number >= 0 && this.#ids[number] !== id) number = this.#table.next(hash)
    return number
  }

  /** The block of a number that is in use. */
  idOf(number: number): Id {
    return this.#ids[number]!
  }

  /** The number of a block, with one use more. */
  acquire(id: Id): number {
    const known = this.find(id)
    if (known < 0) return this.#add(id)
    this.retain(known)
    return known
  }

  /** One use more of a block that is in use. */
  retain(number: number): void {
    this.#rows.add(number * rowLength + usesAt, 1)
  }

  /** Takes one use back; true when it was the last. */
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
   * The numbers of the blocks that digests name; −1 where one is not in use. All are looked up side by side: memory fetches
   * what it has for one while it is waited for that of another.
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
 * The blocks of several indexes: their numbers, sizes, and room to ask about them. One that many indexes know is looked up
 * and kept once.
 */
export class SharedBlocks extends BlockTable {
  /** by number: characters, as whoever used it first had it; one content has one size, but for how it is numbered */
  readonly sizes: number[] = []
  /** by number; whoever uses it leaves it all 0 */
  readonly firstRank: number[] = []
  readonly indexOfBlock: number[] = []

  /** An estimate of the memory they take. */
  get bytes(): number {
    return this.size * bytesPerBlock
  }

  /** The number of a block of this size, with one use more. */
  acquireSized(id: BlockId, size: number): number {
    const known = this.size
    const number = this.acquire(id)
    if (this.size > known) this.sizes[number] = size
    return number
  }

  /** The numbers of several blocks of these sizes, however they are named, with one use more each. */
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
