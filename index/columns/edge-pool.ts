import { type NumberColumn, reserveAll, WholeColumn } from './number-column.ts'

/** Stretches of places that nodes own, side by side in columns; what is freed is given to stretches of the same length. */
export class EdgePool {
  /** what lies at each place */
  readonly symbols: WholeColumn = new WholeColumn()
  readonly #columns: NumberColumn[]
  /** by length: where stretches of it begin */
  readonly #free = new Map<number, number[]>()
  #end = 0
  #freed = 0

  /** `columns`: what else lies at each place. */
  constructor(columns: readonly NumberColumn[]) {
    this.#columns = [this.symbols, ...columns]
  }

  /** Places in use. */
  get size(): number {
    return this.#end - this.#freed
  }

  /** Whether more lies free than is in use. */
  get isSparse(): boolean {
    return this.#freed > this.size + 1_024
  }

  get bytes(): number {
    return this.#columns.reduce((sum, { bytes }) => sum + bytes, 0)
  }

  /** Where a stretch of so many places begins from now on. */
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

  /** Copies what lies in a stretch to another. */
  copy(from: number, to: number, length: number): void {
    for (const column of this.#columns) {
      for (let i = 0; i < length; i++) column.set(to + i, column.at(from + i))
    }
  }

  /** Puts stretches side by side again, in the order given; returns where each begins. */
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
