import { type NumberColumn, reserveAll, WholeColumn } from './number-column.ts'

/** Allocates stretches of places in columns. A freed stretch is reused for one of the same length. */
export class EdgePool {
  /** symbol at each place */
  readonly symbols: WholeColumn = new WholeColumn()
  readonly #columns: NumberColumn[]
  /** by length: starts of free stretches */
  readonly #free = new Map<number, number[]>()
  #end = 0
  #freed = 0

  /** `columns`: further data by place. */
  constructor(columns: readonly NumberColumn[]) {
    this.#columns = [this.symbols, ...columns]
  }

  /** Number of places in use. */
  get size(): number {
    return this.#end - this.#freed
  }

  /** Whether more places are free than in use, with a margin of 1,024. */
  get isSparse(): boolean {
    return this.#freed > this.size + 1_024
  }

  get bytes(): number {
    return this.#columns.reduce((sum, { bytes }) => sum + bytes, 0)
  }

  /** Allocates a stretch of `length` places. Returns its start. */
  take(length: number): number {
    const free = this.#free.get(length)?.pop()
    if (free !== undefined) {
      this.#freed -= length
      return free
    }
    const start = this.#end
    this.#end += length
    reserveAll(this.#columns, this.#end)
    return start
  }

  give(start: number, length: number): void {
    if (length === 0) return
    const free = this.#free.get(length)
    if (free) free.push(start)
    else this.#free.set(length, [start])
    this.#freed += length
  }

  /** Copies the data of one stretch to another. */
  copy(from: number, to: number, length: number): void {
    for (const column of this.#columns) {
      for (let i = 0; i < length; i++) column.set(to + i, column.at(from + i))
    }
  }

  /** Moves the given stretches together, in the given order, and frees all others. Returns their starts. */
  compact(stretches: readonly { readonly start: number; readonly length: number }[]): number[] {
    for (const column of this.#columns) column.gather(stretches)
    this.#free.clear()
    this.#freed = 0
    this.#end = 0
    return stretches.map(({ length }) => {
      this.#end += length
      return this.#end - length
    })
  }
}
