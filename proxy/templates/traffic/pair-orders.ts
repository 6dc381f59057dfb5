const unknown = 0
const lowerFirst = 1
const higherFirst = 2

/** In which order two slots were met last: two bits for each pair, in rows below a diagonal. */
export class PairOrders {
  #bits = new Uint8Array(64)

  /** Notes that `first` stands before `second`, and returns how they stood before. */
  meet(first: number, second: number): 'new' | 'equal' | 'flipped' {
    const pair = toPair(first, second)
    const order = first < second ? lowerFirst : higherFirst
    const before = this.#read(pair)
    this.#write(pair, order)
    if (before === unknown) return 'new'
    return before === order ? 'equal' : 'flipped'
  }

  /** Forgets all pairs with a slot; `slots` is how many are in use. */
  forget(slot: number, slots: number): void {
    const end = this.#bits.length * 4
    for (let other = 0; other < slots; other++) {
      const pair = toPair(slot, other)
      if (other !== slot && pair < end) this.#bits[pair >> 2]! &= ~(3 << ((pair & 3) * 2))
    }
  }

  toBytes(): Uint8Array {
    let end = this.#bits.length
    while (end > 0 && this.#bits[end - 1] === 0) end--
    return this.#bits.subarray(0, end)
  }

  restore(bytes: Uint8Array): void {
    this.#reserve(bytes.length)
    this.#bits.set(bytes)
  }

  #read(pair: number): number {
    return ((this.#bits[pair >> 2] ?? 0) >> ((pair & 3) * 2)) & 3
  }

  #write(pair: number, order: number): void {
    const at = pair >> 2
    this.#reserve(at + 1)
    const shift = (pair & 3) * 2
    this.#bits[at] = (this.#bits[at]! & ~(3 << shift)) | (order << shift)
  }

  #reserve(length: number): void {
    if (length <= this.#bits.length) return
    const bits = new Uint8Array(Math.max(length, this.#bits.length * 2))
    bits.set(this.#bits)
    this.#bits = bits
  }
}

function toPair(a: number, b: number): number {
  return a > b ? ((a * (a - 1)) >> 1) + b : ((b * (b - 1)) >> 1) + a
}
