import type { MirroredPrompt, SharedPrompt } from '../cache-event.ts'
import { FloatColumn, reserveAll, WholeColumn } from '../columns/number-column.ts'
import { RequestTable } from '../columns/request-table.ts'
import type { RequestId } from '../context-block.ts'
import { withNames } from './mirrored-prompt.ts'

/** A mirrored request: its number in the columns of `MirroredRequests`, which is valid while it is mirrored. */
export type MirroredRequest = number

/** The mirrored requests in the order they were sent, with their data in columns. */
export class MirroredRequests {
  /** end node of the prompt in the tree of prompts */
  readonly ends: WholeColumn = new WholeColumn()
  /** length of the prompt, in characters */
  readonly lengths: WholeColumn = new WholeColumn()
  readonly heldLengths: WholeColumn = new WholeColumn()
  readonly blocks: WholeColumn = new WholeColumn()
  /** tokens per character; 0 until the engine has counted the tokens */
  readonly densities: FloatColumn = new FloatColumn()
  /** as set by `CacheMirror.noteTime` */
  readonly times: FloatColumn = new FloatColumn()
  readonly #columns = [this.ends, this.lengths, this.heldLengths, this.blocks, this.densities, this.times]
  /** prompts that the tree cannot reproduce */
  readonly #odd = new Map<MirroredRequest, MirroredPrompt>()
  readonly #table = new RequestTable()

  get size(): number {
    return this.#table.size
  }

  /** Estimated memory. */
  get bytes(): number {
    return this.#columns.reduce((sum, { bytes }) => sum + bytes, this.#table.bytes + this.#odd.size * bytesPerOddPrompt)
  }

  find(request: RequestId): MirroredRequest | undefined {
    return this.#table.find(request)
  }

  idOf(number: MirroredRequest): RequestId {
    return this.#table.requestOf(number)
  }

  /** Returns the request that was sent first; undefined if there is none. */
  oldest(): RequestId | undefined {
    return this.#table.oldest()
  }

  /** Yields all requests, oldest first, including those added during the iteration. */
  entries(): IterableIterator<[RequestId, MirroredRequest]> {
    return this.#table.entries()
  }

  /** Adds a request of which nothing is held yet. */
  add(request: RequestId, end: number, length: number, blocks: number): MirroredRequest {
    const number = this.#table.add(request)
    reserveAll(this.#columns, this.#table.end)
    for (const column of this.#columns) column.set(number, 0)
    this.ends.set(number, end)
    this.lengths.set(number, length)
    this.blocks.set(number, blocks)
    return number
  }

  delete(request: RequestId): void {
    this.#odd.delete(this.#table.delete(request)!)
  }

  /** Stores the prompt itself, for one that the tree cannot reproduce. */
  keepPrompt(number: MirroredRequest, prompt: SharedPrompt): void {
    this.#odd.set(number, withNames(prompt))
  }

  /** Returns the prompt stored by `keepPrompt`, if any. */
  keptPrompt(number: MirroredRequest): MirroredPrompt | undefined {
    return this.#odd.get(number)
  }
}

const bytesPerOddPrompt = 3_000
