const unknown = 0
const lowerFirst = 1
const higherFirst = 2

/** In which order two slots were met last: two bits for each pair, in rows below a diagonal. */
export class PairOrders {
  readonly bits: Uint8Array

  /** `slots` is how many there are. */
  constructor(slots: number) {
    this.bits = new Uint8Array(Math.ceil((slots * (slots - 1)) / 8))
  }

  /** Notes that `first` stands before `second`, and returns how they stood before. */
  meet(first: number, second: number): 'new' | 'equal' | 'flipped' {
    const pair = toPair(first, second)
    const shift = (pair & 3) * 2
    const byte = this.bits[pair >> 2]!
    const order = first < second ? lowerFirst : higherFirst
    const before = (byte >> shift) & 3
    this.bits[pair >> 2] = (byte & ~(3 << shift)) | (order << shift)
    if (before === unknown) return 'new'
    return before === order ? 'equal' : 'flipped'
  }

  /** Forgets all pairs with a slot; `slots` is how many are in use. */
  forget(slot: number, slots: number): void {
    for (let other = 0; other < slots; other++) {
      const pair = toPair(slot, other)
      if (other !== slot) this.bits[pair >> 2]! &= ~(3 << ((pair & 3) * 2))
    }
  }
}

function toPair(a: number, b: number): number {
  return a > b ? ((a * (a - 1)) >> 1) + b : ((b * (b - 1)) >> 1) + a
}
