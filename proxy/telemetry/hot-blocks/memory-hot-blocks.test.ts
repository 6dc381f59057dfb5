import { expect, test } from 'vitest'
import { blocksNamed, describeHotBlocks } from './hot-blocks.contract.ts'
import { MemoryHotBlocks } from './hot-blocks.ts'

describeHotBlocks('in memory', (capacity) => new MemoryHotBlocks(capacity))

test('one that comes late is listed, and a block requested all the time is never lost', () => {
  const hot = new MemoryHotBlocks(1)
  const [a, b, c] = blocksNamed('a', 'b', 'c')
  for (let i = 0; i < 70_000; i++) hot.note([a!], [1])
  hot.note([b!, c!], [1, 1])
  expect(hot.top(9)).toEqual([{ block: a, count: 70_000, size: 1 }])
  for (let i = 0; i < 5; i++) hot.note([c!], [1])
  expect(hot.top(9)).toContainEqual({ block: c, count: 5, size: 1 })
})
