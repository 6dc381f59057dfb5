import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { BlockId } from '#index/context-block.ts'
import { HotBlocks } from './hot-blocks.ts'

const ids = (...names: string[]): BlockId[] => names as BlockId[]

test('the blocks asked for most come first, with their counts and sizes', () => {
  const hot = new HotBlocks()
  hot.note(ids('a', 'b'), [3, 5])
  hot.note(ids('b', 'c'), [5, 7])
  hot.note(ids('b'), [5])
  expect(hot.top(2)).toEqual([
    { block: 'b', count: 3, size: 5 },
    { block: 'a', count: 1, size: 3 },
  ])
  hot.clear()
  expect(hot.top(2)).toEqual([])
})

test('in bounded memory no count is too high, or too low by more than its share', () => {
  const capacity = 4
  const asked = fc.array(
    fc.nat({ max: 30 }).map((n) => String(Math.floor(n ** 2 / 30))),
    { maxLength: 300 },
  )
  fc.assert(
    fc.property(asked, (blocks) => {
      const hot = new HotBlocks(capacity)
      const truth = new Map<string, number>()
      for (const block of blocks) {
        truth.set(block, (truth.get(block) ?? 0) + 1)
        hot.note(ids(block), [1])
      }
      const top = new Map(hot.top(1_000).map(({ block, count }) => [block as string, count]))
      expect(top.size).toBeLessThanOrEqual(2 * capacity)
      for (const [block, count] of truth) {
        expect(top.get(block) ?? 0).toBeLessThanOrEqual(count)
        expect(top.get(block) ?? 0).toBeGreaterThanOrEqual(count - blocks.length / capacity)
      }
    }),
  )
})
