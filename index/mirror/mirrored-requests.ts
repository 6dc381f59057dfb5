import type { MirroredPrompt, SharedPrompt } from '../cache-event.ts'
import { FloatColumn, reserveAll, WholeColumn } from '../columns/number-column.ts'
import { RequestTable } from '../columns/request-table.ts'
import type { RequestId } from '../context-block.ts'
import { withNames } from './mirrored-prompt.ts'

/** A mirrored request: its number in the columns of `MirroredRequests`, which lives as long as it is mirrored. */
export type MirroredRequest = number

/** The requests that are mirrored, in the order they were sent; what is known of each lies in columns. */
export class MirroredRequests {
  /** where the prompt ends in the tree of prompts */
  readonly ends: WholeColumn = new WholeColumn()
  /** characters of the prompt */
  readonly lengths: WholeColumn = new WholeColumn()
  readonly heldLengths: WholeColumn = new WholeColumn()
  readonly blocks: WholeColumn = new WholeColumn()
  /** tokens a character; 0 until the engine has counted */
  readonly densities: FloatColumn = new FloatColumn()
  /** as `CacheMirror.noteTime` noted it */
  readonly times: FloatColumn = new FloatColumn()
  readonly #columns = [this.ends, this.lengths, this.heldLengths, this.blocks, this.densities, this.times]
  /** prompts that the tree cannot tell of as they were sent */
  readonly #odd = new Map<MirroredRequest, MirroredPrompt>()
  readonly #table = new RequestTable()

  get size(): number {
    return this.#table.size
  }

  /** An estimate of the memory they take. */
  get bytes(): number {
    return this.#columns.reduce((sum, { bytes }) => sum + bytes, this.#table.bytes + this.#odd.size * bytesPerOddPrompt)
  }

  find(request: RequestId): MirroredRequest | undefined {
    return this.#table.find(request)
  }

  idOf(number: MirroredRequest): RequestId {
    return this.#table.requestOf(number)
  }

  /** The one that was sent first. */
  oldest(): RequestId | undefined {
    return this.#table.oldest()
  }

  /** All of them, those sent first first; goes on through those that are sent meanwhile. */
  entries(): Generator<[RequestId, MirroredRequest]> {
    return this.#table.entries()
  }

  /** Mirrors a request, of which nothing is held yet. */
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

  /** Keeps the prompt itself. */
  keepPrompt(number: MirroredRequest, prompt: SharedPrompt): void {
    this.#odd.set(number, withNames(prompt))
  }

  /** The prompt itself, if it is kept. */
  keptPrompt(number: MirroredRequest): MirroredPrompt | undefined {
    return this.#odd.get(number)
  }
}

const bytesPerOddPrompt = 3_000
