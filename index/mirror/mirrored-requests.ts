import { FloatColumn, type NumberColumn, WholeColumn } from '../columns/number-column.ts'
import { RequestTable } from '../columns/request-table.ts'

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
  protected override readonly columns: readonly NumberColumn[] = [
    this.ends,
    this.lengths,
    this.heldLengths,
    this.blocks,
    this.densities,
    this.earlierParts,
    this.laterParts,
  ]
}
