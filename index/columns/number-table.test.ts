import fc from 'fast-check'
import { expect, test } from 'vitest'
import { NumberTable } from './number-table.ts'

/** Returns all numbers in a table with a hash. */
function allOf(table: NumberTable, hash: number): number[] {
  const numbers: number[] = []
  for (let number = table.first(hash); number >= 0; number = table.next(hash)) numbers.push(number)
  return numbers.sort((a, b) => a - b)
}

test('numbers are found by their hash as long as they are there, however many have the same', () => {
  const hash = fc.oneof(fc.constantFrom(0, 1, -1), fc.integer())
  const steps = fc.array(fc.tuple(fc.nat(30), fc.constantFrom('add' as const, 'delete' as const)), { maxLength: 200 })
  fc.assert(
    fc.property(steps, fc.array(hash, { minLength: 5, maxLength: 5 }), (all, hashes) => {
      const hashOf = (number: number): number => hashes[number % 5]!
      const table = new NumberTable()
      const there = new Set<number>()
      for (const [number, act] of all) {
        if ((act === 'add') === there.has(number)) continue
        table[act](hashOf(number), number)
        there[act](number)
        for (const one of new Set(hashes)) {
          expect(allOf(table, one)).toEqual([...there].filter((other) => hashOf(other) === one).sort((a, b) => a - b))
        }
      }
    }),
  )
})

test('a table of very many is one of many small ones', () => {
  const hashOf = (number: number): number => Math.imul(number, 0x9e3779b1)
  const table = new NumberTable()
  const count = 100_000
  for (let number = 0; number < count; number++) table.add(hashOf(number), number)
  for (let number = 0; number < count; number += 2) table.delete(hashOf(number), number)
  for (let number = 1; number < count; number += 4) table.replace(hashOf(number), number, number + count)
  for (let number = 0; number < count; number++) {
    const meant = number % 4 === 1 ? number + count : number
    const found = allOf(table, hashOf(number))
    if (number % 2 === 0 ? found.length > 0 : found[0] !== meant) expect.fail(`${number}: ${found}`)
  }
  expect(table.bytes).toBeLessThan(30 * count)
  table.clear()
  expect([table.first(hashOf(1)), table.bytes < 1_000]).toEqual([-1, true])
})
