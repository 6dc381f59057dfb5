import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Context } from '../context-block.ts'
import { type BatchedContext, planContexts } from './plan-contexts.ts'

const batchOf = (...contexts: string[]): BatchedContext[] =>
  contexts.map((blocks) => ({ context: [...blocks] as unknown as Context, sizes: [...blocks].map(() => 10) }))

/** Returns the contexts as texts, in the order they would run. */
function run(batch: readonly BatchedContext[]): string[] {
  return planContexts(batch).map(({ request, order }) => order.map((place) => batch[request]!.context[place]).join(''))
}

/** Returns the total block size that an unlimited cache would find. */
function savedBy(batch: readonly BatchedContext[]): number {
  const sizes = new Map(batch.flatMap(({ context, sizes }) => context.map((block, i) => [block as string, sizes[i]!])))
  const seen = new Set<string>()
  let saved = 0
  for (const { request, order } of planContexts(batch)) {
    let prefix = ''
    for (const place of order) {
      const block = batch[request]!.context[place]!
      prefix += `${block},`
      if (seen.has(prefix)) saved += sizes.get(block)!
      seen.add(prefix)
    }
  }
  return saved
}

const batches: fc.Arbitrary<BatchedContext[]> = fc.array(
  fc.array(fc.constantFrom(...'abcdefghijkl'), { maxLength: 7 }).map((blocks) => ({
    context: blocks as unknown as Context,
    sizes: blocks.map((block) => 10 + (block.charCodeAt(0) % 7)),
  })),
  { maxLength: 25 },
)

test('those that share most come together, what they share in front', () => {
  expect(run(batchOf('abcx', 'pq', 'ycba', 'qzp'))).toEqual(['abcx', 'abcy', 'pq', 'pqz'])
})

test('a prefix within a prefix: what only some share stands behind what all share', () => {
  const sent = run(batchOf('xab', 'bya', 'xza'))
  expect(sent[0]!.slice(0, 1)).toBe('a')
  expect(savedBy(batchOf('xab', 'bya', 'xza'))).toBe(30)
})

test('what is dear counts, not how many blocks', () => {
  const batch: BatchedContext[] = [
    { context: ['D', 'a', 'b'] as unknown as Context, sizes: [900, 10, 10] },
    { context: ['a', 'b', 'x'] as unknown as Context, sizes: [10, 10, 10] },
    { context: ['y', 'D'] as unknown as Context, sizes: [10, 900] },
  ]
  expect(savedBy(batch)).toBeGreaterThanOrEqual(900)
})

test('contexts that share nothing keep the ranking, each a group of its own', () => {
  expect(planContexts(batchOf('ab', 'cd'))).toEqual([
    { request: 0, order: [0, 1], group: 0, searchPath: [0] },
    { request: 1, order: [0, 1], group: 1, searchPath: [1] },
  ])
})

test('a block that stands twice in a context that shares nothing keeps both its places', () => {
  expect(run(batchOf('abbc', 'eef'))).toEqual(['abbc', 'eef'])
})

test('an empty batch, empty contexts, one block, a block twice', () => {
  expect(planContexts([])).toEqual([])
  const planned = planContexts(batchOf('', 'a', 'aba', ''))
  expect(planned.map(({ request, order }) => [request, order])).toEqual([
    [0, []],
    [3, []],
    [1, [0]],
    [2, [0, 1, 2]],
  ])
})

test('every request once, every order a permutation, groups in one piece', () => {
  fc.assert(
    fc.property(batches, (batch) => {
      const planned = planContexts(batch)
      expect(planned.map(({ request }) => request).toSorted((a, b) => a - b)).toEqual([...batch.keys()])
      for (const { request, order } of planned) {
        expect(order.toSorted((a, b) => a - b)).toEqual([...batch[request]!.context.keys()])
      }
      const groups = planned.map(({ group }) => group)
      expect(groups).toEqual(groups.toSorted((a, b) => a - b))
      expect(new Set(groups).size).toBe((groups.at(-1) ?? -1) + 1)
      expect(planContexts(batch)).toEqual(planned)
    }),
    { numRuns: 300 },
  )
})

test('depth first loses nothing: every request finds all that is shared in the one that ran before it', () => {
  fc.assert(
    fc.property(batches, (batch) => {
      const size = new Map(
        batch.flatMap(({ context, sizes }) => context.map((block, i) => [block as string, sizes[i]!])),
      )
      let shared = 0
      let before: string[] = []
      for (const { request, order } of planContexts(batch)) {
        const sent = order.map((place) => String(batch[request]!.context[place]))
        for (let i = 0; i < sent.length && sent[i] === before[i]; i++) shared += size.get(sent[i]!)!
        before = sent
      }
      // repeated blocks are not planned, so they may happen to be shared in addition
      if (batch.every(({ context }) => new Set(context).size === context.length)) expect(shared).toBe(savedBy(batch))
    }),
    { numRuns: 300 },
  )
})

test('it saves at least what the pair that shares most could', () => {
  fc.assert(
    fc.property(batches, (batch) => {
      let most = 0
      for (const [i, a] of batch.entries()) {
        for (const b of batch.slice(i + 1)) {
          const shared = new Set(a.context.filter((block) => b.context.includes(block)))
          const weight = [...shared].reduce((sum, block) => sum + 10 + (block.charCodeAt(0) % 7), 0)
          most = Math.max(most, weight)
        }
      }
      expect(savedBy(batch)).toBeGreaterThanOrEqual(most)
    }),
    { numRuns: 300 },
  )
})

test('four hundred levels neither overflow nor stall', () => {
  const batch = Array.from({ length: 3_000 }, (_, i) => {
    const context = Array.from({ length: Math.min(i + 1, 400) }, (_, k) => `b${k}`) as unknown as Context
    return { context, sizes: context.map(() => 1) }
  })
  expect(planContexts(batch)).toHaveLength(3_000)
})
