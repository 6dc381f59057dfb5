import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type BlockId, toBlockId } from '../context-block.ts'
import { BlockTable, SharedBlocks } from './block-table.ts'

const id = (name: string): BlockId => name as BlockId

test('a number lives as long as somebody uses it, and is then given away', () => {
  const table = new BlockTable()
  const a = table.acquire(id('a'))
  const b = table.acquire(id('b'))
  table.retain(a)
  table.release(a)
  expect([table.find(id('a')), table.find(id('b')), table.size]).toEqual([a, b, 2])
  table.release(a)
  expect([table.find(id('a')), table.size]).toEqual([-1, 1])
  expect(table.acquire(id('c'))).toBe(a)
  expect(table.acquire(id('b'))).toBe(b)
})

test('a block has one number, and the size that its first user gave, for as long as it is used', () => {
  const names = ['a', '~a', ...['1', '2', '3', '4'].map(toBlockId)].map(id)
  const step = fc.record({ name: fc.constantFrom(...names), isAcquired: fc.boolean() })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const table = new SharedBlocks()
      const uses = new Map(names.map((name) => [name, [] as number[]]))
      for (const { name, isAcquired } of steps) {
        const numbers = uses.get(name)!
        if (isAcquired) numbers.push(...table.acquireAll([name], [10 + numbers.length]))
        else if (numbers.length > 0) expect(table.release(numbers.pop()!)).toBe(numbers.length === 0)
        const used = [...uses].filter(([, all]) => all.length > 0)
        expect(table.size).toBe(used.length)
        expect(names.map((other) => table.find(other))).toEqual(names.map((other) => uses.get(other)![0] ?? -1))
        for (const [other, [number]] of used) {
          expect([table.idOf(number!), table.sizes[number!]]).toEqual([other, 10])
        }
      }
    }),
  )
})
