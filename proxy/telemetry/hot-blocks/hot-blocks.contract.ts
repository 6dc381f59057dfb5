import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type BlockId, toBlockId } from '#index/context-block.ts'
import type { HotBlocks } from './hot-blocks.ts'

/** Returns block ids for the names of their contents. */
export const blocksNamed = (...names: readonly string[]): BlockId[] => names.map(toBlockId)

/** Names of requested blocks, some far more frequent than others. */
const askedFor = fc.array(
  fc.nat({ max: 30 }).map((n) => String(Math.floor(n ** 2 / 30))),
  { maxLength: 300 },
)

/** Returns how often each name occurs. */
function countNames(names: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  return counts
}

/** Expects that no count is too high, and none too low by more than `lower`. */
function expectBounds(hot: HotBlocks, names: readonly string[], lower: number): void {
  const top = new Map(hot.top(10_000).map(({ block, count }) => [block, count]))
  for (const [name, count] of countNames(names)) {
    const told = top.get(toBlockId(name)) ?? 0
    expect(told).toBeLessThanOrEqual(count)
    expect(told).toBeGreaterThanOrEqual(count - lower)
    top.delete(toBlockId(name))
  }
  expect([...top]).toEqual([])
}

/** Tests what every counter of hot blocks does. `create` returns an empty one. */
export function describeHotBlocks(name: string, create: (capacity?: number) => HotBlocks | Promise<HotBlocks>): void {
  const [a, b, c] = blocksNamed('a', 'b', 'c') as [BlockId, BlockId, BlockId]

  test(`${name}: the blocks asked for most come first, with their counts and sizes`, async () => {
    const hot = await create()
    hot.note([a, b], [3, 5])
    hot.note([b, c], [5, 7])
    hot.note([b], [5])
    hot.note([a], [3])
    expect(hot.top(2)).toEqual([
      { block: b, count: 3, size: 5 },
      { block: a, count: 2, size: 3 },
    ])
    expect(hot.top(10)).toHaveLength(3)
    expect(hot.load).toBeGreaterThan(0)
  })

  test(`${name}: what was counted is forgotten when it is cleared, and counted again from then on`, async () => {
    const hot = await create()
    hot.note([a, b], [3, 5])
    hot.clear()
    expect(hot.top(2)).toEqual([])
    expect(hot.load).toBe(0)
    hot.note([b], [5])
    expect(hot.top(2)).toEqual([{ block: b, count: 1, size: 5 }])
  })

  test(`${name}: in bounded memory no count is too high, or too low by more than its share`, async () => {
    const capacity = 4
    await fc.assert(
      fc.asyncProperty(askedFor, async (names) => {
        const hot = await create(capacity)
        for (const block of blocksNamed(...names)) hot.note([block], [1])
        expect(hot.top(1_000).length).toBeLessThanOrEqual(2 * capacity)
        expect(hot.load).toBeLessThanOrEqual(1)
        expectBounds(hot, names, names.length / capacity)
      }),
    )
  })
}
