const many = 1 << 18

/** Numbers by place, in an array that grows: a quarter more at a time, or an eighth where there are many. */
export class NumberColumn<T extends Int32Array | Float64Array = Int32Array> {
  /** what lies behind the places in use is 0 or what was there before */
  array: T

  constructor(array: T) {
    this.array = array
  }

  /** Makes room for so many. */
  reserve(count: number): void {
    if (count <= this.array.length) return
    const factor = count < many ? 1.25 : 1.125
    const larger = new (this.array.constructor as new (length: number) => T)(Math.ceil(count * factor) + 16)
    larger.set(this.array)
    this.array = larger
  }

  get bytes(): number {
    return this.array.byteLength
  }
}

/**
 * Makes room for so many in several columns of one length. One that is nearly full grows before it must, one at a time:
 * to copy all at once takes many milliseconds where there are millions.
 */
export function reserveAll(columns: readonly NumberColumn<Int32Array | Float64Array>[], count: number): void {
  let hasGrown = false
  for (const column of columns) {
    const { length } = column.array
    const isNearlyFull = count > length - (length >> 6)
    if (count <= length && (hasGrown || !isNearlyFull)) continue
    column.reserve(Math.max(count, length + 1))
    hasGrown = true
  }
}

/** Whole numbers of 32 bits. */
export function wholeColumn(): NumberColumn<Int32Array> {
  return new NumberColumn(new Int32Array(16))
}

/** Any numbers. */
export function floatColumn(): NumberColumn<Float64Array> {
  return new NumberColumn(new Float64Array(16))
}
