import { expect, test } from 'vitest'
import { blocksNamed, describeHotBlocks } from './hot-blocks.contract.ts'
import { MemoryHotBlocks } from './memory-hot-blocks.ts'

describeHotBlocks('in memory', (capacity) => new MemoryHotBlocks(capacity))

test('a listed block is counted beyond what the filter holds, and one that comes late is listed once it is hotter', () => {
  const hot = new MemoryHotBlocks(1)
  const [a, b, c] = blocksNamed('a', 'b', 'c')
  for (let i = 0; i < 70_000; i++) hot.note([a!], [1])
  hot.note([b!, c!], [1, 1])
  expect(hot.top(9)).toEqual([{ block: a, count: 70_000, size: 1 }])
  const other = new MemoryHotBlocks(1)
  other.note([a!, b!, c!], [1, 1, 1])
  for (let i = 0; i < 5; i++) other.note([c!], [1])
  expect(other.top(9)).toEqual([{ block: c, count: 6, size: 1 }])
})
