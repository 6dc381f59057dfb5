import type { BlockId, Context } from '../context-block.ts'
import { WholeColumn } from './number-column.ts'

/** A map of all blocks would stop everything for a tenth of a second when it grows; these take a few milliseconds. */
const mapCount = 64
/** Ids are digests, in which any letter but the last is as good as random. */
const mixedLetter = 11

/**
 * The blocks known to an index, as small integers, so that data about blocks can be stored in arrays. Numbers are
 * reference-counted, and a number no longer used is given to another block.
 */
export class BlockTable<Id extends string = BlockId> {
  readonly #numbers = Array.from({ length: mapCount }, () => new Map<Id, number>())
  /** by number */
  readonly #ids: (Id | undefined)[] = []
  readonly #uses = new WholeColumn()
  readonly #free: number[] = []

  /** Number of blocks in use. */
  get size(): number {
    return this.#ids.length - this.#free.length
  }

  /** Returns the number of a block; −1 if it is not in use. */
  find(id: Id): number {
    return this.#mapOf(id).get(id) ?? -1
  }

  /** Returns the block of a number in use. */
  idOf(number: number): Id {
    return this.#ids[number]!
  }

  /** Returns the number of a block, new if necessary, and adds a use. */
  acquire(id: Id): number {
    const map = this.#mapOf(id)
    const known = map.get(id)
    if (known !== undefined) {
      this.retain(known)
      return known
    }
    const number = this.#free.pop() ?? this.#ids.length
    this.#ids[number] = id
    this.#uses.reserve(number + 1)
    this.#uses.set(number, 1)
    map.set(id, number)
    return number
  }

  /** Adds a use of a block in use. */
  retain(number: number): void {
    this.#uses.add(number, 1)
  }

  /** Removes a use. Returns true if it was the last. */
  release(number: number): boolean {
    this.#uses.add(number, -1)
    if (this.#uses.at(number) > 0) return false
    const id = this.#ids[number]!
    this.#mapOf(id).delete(id)
    this.#ids[number] = undefined
    this.#free.push(number)
    return true
  }

  #mapOf(id: Id): Map<Id, number> {
    return this.#numbers[id.charCodeAt(mixedLetter) % mapCount] ?? this.#numbers[0]!
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

  /** Like `acquire` for several blocks, and sets the sizes of new ones. */
  acquireAll(blocks: Context, sizes: readonly number[]): number[] {
    return blocks.map((block, i) => {
      const known = this.size
      const number = this.acquire(block)
      if (this.size > known) this.sizes[number] = sizes[i]!
      return number
    })
  }
}

// measured on Node 20, with ids of 22 characters
const bytesPerBlock = 95
