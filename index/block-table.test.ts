import { expect, test } from 'vitest'
import { BlockTable } from './block-table.ts'
import type { BlockId } from './context-block.ts'

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
