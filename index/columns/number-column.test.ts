import fc from 'fast-check'
import { expect, test } from 'vitest'
import { FloatColumn, type NumberColumn, reserveAll, WholeColumn } from './number-column.ts'

const many = 100_000

test.each([new WholeColumn(), new FloatColumn()])(
  'what lies in a column stays where it is, however many come',
  (column) => {
    for (let place = 0; place < many; place++) {
      reserveAll([column], place + 1)
      expect(column.at(place)).toBe(0)
      column.set(place, place * 3)
    }
    for (let place = 0; place < many; place++) if (column.at(place) !== place * 3) expect.fail(`${place}`)
    const size = many * (column instanceof FloatColumn ? 8 : 4)
    expect(column.bytes).toBeGreaterThanOrEqual(size)
    expect(column.bytes).toBeLessThan(size + (8 << 15))
  },
)

test('few take little room', () => {
  const column = new WholeColumn()
  column.reserve(10)
  expect(column.bytes).toBeLessThan(200)
})

test('whole numbers are added to and toggled in place', () => {
  const column = new WholeColumn()
  column.reserve(1)
  column.add(0, 5)
  column.add(0, -7)
  expect(column.at(0)).toBe(-2)
  column.toggle(0, -2)
  column.toggle(0, 6)
  expect(column.at(0)).toBe(6)
})

test('stretches that are gathered lie side by side, in the order given', () => {
  const stretch = fc.record({ start: fc.nat(many - 1_000), length: fc.nat(1_000) })
  fc.assert(
    fc.property(fc.array(stretch, { maxLength: 60 }), (stretches) => {
      const column: NumberColumn = new WholeColumn()
      column.reserve(many)
      for (let place = 0; place < many; place += 7) column.set(place, place)
      column.gather(stretches)
      const meant = stretches.flatMap(({ start, length }) => Array.from({ length }, (_, i) => start + i))
      expect(meant.every((place, i) => column.at(i) === (place % 7 === 0 ? place : 0))).toBe(true)
      column.reserve(many)
      expect(column.at(many - 1)).toBe(meant.length === many ? meant.at(-1) : 0)
    }),
    { numRuns: 30 },
  )
})
