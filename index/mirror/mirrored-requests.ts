import { FloatColumn, reserveAll, WholeColumn } from '../columns/number-column.ts'
import { RequestTable } from '../columns/request-table.ts'
import type { RequestId } from '../context-block.ts'

/** A mirrored request: its number in the columns of `MirroredRequests`, which is valid while it is mirrored. */
export type MirroredRequest = number

/** The mirrored requests in the order they were sent, with their data in columns. */
export class MirroredRequests extends RequestTable {
  /** end node of the prompt in the tree of prompts */
  readonly ends: WholeColumn = new WholeColumn()
  /** length of the prompt, in characters */
  readonly lengths: WholeColumn = new WholeColumn()
  readonly heldLengths: WholeColumn = new WholeColumn()
  readonly blocks: WholeColumn = new WholeColumn()
  /** tokens per character; 0 until the engine has counted the tokens */
  readonly densities: FloatColumn = new FloatColumn()
  /** neighbours of requests in the lists of `HeldParts` */
  readonly earlierParts: WholeColumn = new WholeColumn()
  readonly laterParts: WholeColumn = new WholeColumn()
  readonly #columns = [
    this.ends,
    this.lengths,
    this.heldLengths,
    this.blocks,
    this.densities,
    this.earlierParts,
    this.laterParts,
  ]

  /** Estimated memory. */
  override get bytes(): number {
    return this.#columns.reduce((sum, { bytes }) => sum + bytes, super.bytes)
  }

  /** Adds a request, with 0 in all columns. */
  override add(request: RequestId): MirroredRequest {
    const number = super.add(request)
    reserveAll(this.#columns, this.end)
    for (const column of this.#columns) column.set(number, 0)
    return number
  }
}
