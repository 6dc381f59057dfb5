import fc from 'fast-check'
import { expect, test } from 'vitest'
import { NumberTable } from './number-table.ts'

/** What a table finds for a hash, by the walk that its users make. */
function find(table: NumberTable, hash: number, isIt: (number: number) => boolean): number {
  const places = table.placesOf(hash)
  for (let at = hash & (places.length - 1); ; at = (at + 1) & (places.length - 1)) {
    const number = places[at]! - 1
    if (number < 0 || isIt(number)) return number
  }
}

test('numbers are found by their hash as long as they are there, however many have the same', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(30), fc.boolean()), { maxLength: 200 }), fc.integer(), (steps, spread) => {
      const hashOf = (number: number): number => Math.imul(number % 5, spread) | 0
      const table = new NumberTable(hashOf)
      const there = new Set<number>()
      for (const [number, isAdded] of steps) {
        if (isAdded === there.has(number)) continue
        if (isAdded) {
          table.add(number)
          there.add(number)
        } else {
          table.delete(number)
          there.delete(number)
        }
        for (let one = 0; one <= 30; one++) {
          expect(find(table, hashOf(one), (other) => other === one)).toBe(there.has(one) ? one : -1)
        }
      }
    }),
  )
})

test('a table of very many is one of many small ones', () => {
  const hashOf = (number: number): number => Math.imul(number, 0x9e3779b1)
  const table = new NumberTable(hashOf)
  const count = 100_000
  for (let number = 0; number < count; number++) table.add(number)
  expect(table.placesOf(0).length).toBeLessThan(count / 16)
  for (let number = 0; number < count; number += 2) table.delete(number)
  for (let number = 1; number < count; number += 4) table.replace(number, number + count)
  for (let number = 0; number < count; number++) {
    const meant = number % 4 === 1 ? number + count : number
    const found = find(table, hashOf(number), (other) => other === meant)
    if (found !== (number % 2 === 0 ? -1 : meant)) expect.fail(`${number}: ${found}`)
  }
})
