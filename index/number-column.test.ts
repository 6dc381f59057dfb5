import { expect, test } from 'vitest'
import { reserveAll, wholeColumn } from './number-column.ts'

test('columns of one length make room one after the other, in time, and keep what they hold', () => {
  const columns = [wholeColumn(), wholeColumn(), wholeColumn()]
  let together = 0
  for (let count = 1; count <= 20_000; count++) {
    const before = columns.map(({ array }) => array)
    reserveAll(columns, count)
    columns.forEach(({ array }, i) => {
      array[count - 1] = count * (i + 1)
    })
    if (columns.filter(({ array }, i) => array !== before[i]).length > 1) together += 1
  }
  // small ones may
  expect(together).toBeLessThan(8)
  columns.forEach(({ array }, i) => {
    expect(array.subarray(0, 20_000).every((value, at) => value === (at + 1) * (i + 1))).toBe(true)
  })
})
