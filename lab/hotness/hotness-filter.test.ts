import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { HotnessFilter } from './hotness-filter.ts'
import { hashText } from './murmur-hash.ts'

/** A naive reference: all clocks fall immediately. */
class NaiveHotness {
  readonly #records = new Map<number, { clock: number; frequency: number; depth: number }>()
  readonly #most: number
  readonly #requestsPerAge: number
  #requests = 0

  constructor(most: number, requestsPerAge: number) {
    this.#most = most
    this.#requestsPerAge = requestsPerAge
  }

  note(hash: number, depth: number): void {
    const record = this.#records.get(hash) ?? { clock: 0, frequency: 0, depth: Math.min(depth, this.#most) }
    const frequency = Math.min(this.#most, record.frequency + 1)
    this.#records.set(hash, { ...record, clock: this.#most, frequency })
  }

  passRequest(): void {
    this.#requests += 1
    if (this.#requests % this.#requestsPerAge !== 0) return
    for (const record of this.#records.values()) record.clock = Math.max(0, record.clock - 1)
  }

  get records(): readonly (readonly [number, unknown])[] {
    return [...this.#records]
  }
}

const hashesOf = (count: number, name = ''): number[] =>
  Array.from({ length: count }, (_, i) => hashText(`${name}${i}`))
// a fixed set of names, no two of which are confused
const hashes = hashesOf(300)
const event = fc.oneof(
  { weight: 4, arbitrary: fc.record({ hash: fc.constantFrom(...hashes), depth: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.constant('request' as const) },
)

describe('HotnessFilter', () => {
  test.each([1, 3])(
    'is, from eight entries on, what a table is whose clocks all fall at once, every %i requests',
    (requestsPerAge) => {
      fc.assert(
        fc.property(fc.array(event, { maxLength: 1_500 }), (events) => {
          const bits = { fingerprint: 12, clock: 4, frequency: 4, depth: 4 }
          const filter = new HotnessFilter({ capacity: 8, requestsPerAge, bits })
          const naive = new NaiveHotness(15, requestsPerAge)
          for (const what of events) {
            if (what === 'request') {
              filter.passRequest()
              naive.passRequest()
            } else {
              filter.note(what.hash, what.depth)
              naive.note(what.hash, what.depth)
            }
          }
          for (const [hash, record] of naive.records) expect(filter.recordOf(hash)).toEqual(record)
          expect(filter.size).toBe(naive.records.length)
        }),
      )
    },
  )

  test('loses nothing however often it doubles, and is 0.95 full before it does', () => {
    const filter = new HotnessFilter({ capacity: 1_024 })
    const many = hashesOf(200_000)
    let [most, bytes] = [0, filter.bytes]
    const loads: number[] = []
    for (const hash of many) {
      const before = filter.load
      filter.note(hash)
      if (filter.bytes > bytes) loads.push(before)
      bytes = filter.bytes
      most = Math.max(most, filter.load)
    }
    expect(loads).toHaveLength(8)
    for (const load of loads) expect(load).toBeGreaterThanOrEqual(0.95)
    expect(most).toBeLessThanOrEqual(1)
    expect(many.filter((hash) => filter.frequencyOf(hash) === 0)).toEqual([])
  })

  test('holds a million in 8 MB without doubling', () => {
    const filter = new HotnessFilter({ capacity: 1_000_000 })
    const before = filter.bytes
    for (const hash of hashesOf(1_000_000)) filter.note(hash)
    expect(filter.bytes).toBe(before)
    expect(filter.bytes).toBeLessThanOrEqual(8e6)
    expect(filter.load).toBeGreaterThanOrEqual(0.95)
  })

  test('finds an entry in either of its buckets: what the fingerprint tells of the other one leads back', () => {
    // with 60 entries in 16 buckets, most have been moved, some more than once
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(2 ** 32 - 1), { minLength: 60, maxLength: 60 }), (list) => {
        const filter = new HotnessFilter({ capacity: 64, requestsPerAge: 1 })
        list.forEach((hash, i) => {
          filter.note(hash, i)
          filter.passRequest()
        })
        list.forEach((hash, i) => {
          expect(filter.recordOf(hash)).toEqual({ clock: 255 - 60 + i, frequency: 1, depth: i })
        })
      }),
    )
  })

  test('takes few for what they are not', () => {
    const filter = new HotnessFilter({ capacity: 1_024 })
    for (const hash of hashesOf(100_000)) filter.note(hash)
    const wrong = hashesOf(100_000, 'other').filter((hash) => filter.recordOf(hash) !== undefined)
    expect(wrong.length).toBeLessThan(100)
  })

  test('counts up to what eight bits hold, and stays there', () => {
    const filter = new HotnessFilter()
    filter.note(7, 1_000)
    expect(filter.recordOf(7)).toEqual({ clock: 255, frequency: 1, depth: 255 })
    for (let i = 0; i < 253; i++) filter.note(7)
    expect(filter.frequencyOf(7)).toBe(254)
    filter.note(7)
    filter.note(7, 0, 1_000)
    expect(filter.recordOf(7)).toEqual({ clock: 255, frequency: 255, depth: 255 })
  })

  test('as Figure 4: reuse starts the clock anew and counts one more, aging takes one from every clock and stops at 0', () => {
    const filter = new HotnessFilter({ requestsPerAge: 1, bits: { clock: 4 } })
    for (let i = 0; i < 5; i++) filter.note(1)
    filter.note(2)
    for (let i = 0; i < 6; i++) filter.passRequest()
    expect([filter.clockOf(1), filter.frequencyOf(1)]).toEqual([9, 5])
    filter.note(1)
    expect([filter.clockOf(1), filter.frequencyOf(1)]).toEqual([15, 6])
    for (let i = 0; i < 10; i++) filter.passRequest()
    expect([filter.clockOf(1), filter.clockOf(2)]).toEqual([5, 0])
  })

  test('where it may not grow the coldest go, and nothing throws', () => {
    const filter = new HotnessFilter({ capacity: 64, maxCapacity: 64 })
    const [hot, cold] = [hashesOf(20, 'hot'), hashesOf(2_000, 'cold')]
    for (const hash of hot) filter.note(hash, 0, 50)
    for (const hash of cold) filter.note(hash)
    expect(hot.map((hash) => filter.frequencyOf(hash))).toEqual(hot.map(() => 50))
    expect(filter.size).toBeLessThanOrEqual(64)
    const found = cold.filter((hash) => filter.frequencyOf(hash) > 0)
    expect(filter.size).toBe(hot.length + found.length)
  })

  test('starts anew when it is cleared', () => {
    const filter = new HotnessFilter()
    for (const hash of hashes) filter.note(hash)
    filter.clear()
    expect([filter.size, filter.load, filter.frequencyOf(hashes[0]!)]).toEqual([0, 0, 0])
  })

  test.each([
    [{ fingerprint: 3 }, /bits.fingerprint is 3: it must be a whole number from 4 to 16/],
    [{ clock: 0.5 }, /bits.clock is 0.5/],
    [{ frequency: 16 }, /fields of 40 bits do not go into an entry of 32/],
  ])('refuses %j', (bits, message) => {
    expect(() => new HotnessFilter({ bits })).toThrow(message)
  })
})
