import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type BlockId, toBlockId } from '../context-block.ts'
import { Digests } from '../digests.ts'
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

/** Returns a name as a digest in bytes, if it is one. */
function inBytes(name: BlockId): readonly BlockId[] | Digests {
  const bytes = Buffer.from(name, 'base64url')
  return bytes.length === 16 ? new Digests(bytes) : [name]
}

test('a block is one number, whether it is called by name or by the bytes of its digest', () => {
  const names = ['a', '~a', ...['1', '2', '3', '4'].map(toBlockId)].map(id)
  const step = fc.record({ name: fc.constantFrom(...names), isAcquired: fc.boolean(), isInBytes: fc.boolean() })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), fc.integer(), (steps, secret) => {
      const table = new SharedBlocks(secret)
      const uses = new Map(names.map((name) => [name, [] as number[]]))
      for (const { name, isAcquired, isInBytes } of steps) {
        const numbers = uses.get(name)!
        const blocks = isInBytes ? inBytes(name) : [name]
        if (isAcquired) numbers.push(...table.acquireAll(blocks, [10 + numbers.length]))
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

test('digests that begin alike, and what only looks like the digest of another name, are blocks of their own', () => {
  const table = new SharedBlocks(7)
  const bytes = Buffer.alloc(16 * 100, 3)
  for (let i = 0; i < 100; i++) bytes.writeUInt32BE(i, 16 * i + 12)
  const alike = new Digests(bytes)
  const sizes = new Array<number>(100).fill(10)
  const numbers = table.acquireAll(alike, sizes)
  expect(new Set(numbers).size).toBe(100)
  expect(table.acquireAll(alike, sizes)).toEqual(numbers)
  // setting unused bits of the last letter makes a different name
  const name = alike.nameOf(0)
  expect(table.find(id(`${name.slice(0, -1)}B`))).toBe(-1)
  for (const number of [...numbers, ...numbers]) table.release(number)
  expect([table.size, table.find(name)]).toEqual([0, -1])
})
