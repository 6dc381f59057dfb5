import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Context } from '../context-block.ts'
import { alignContext } from './align-context.ts'

const contexts = fc.array(fc.integer({ min: 0, max: 12 })).map((ids) => ids.map(String) as unknown as Context)

test('every block is placed exactly once, also those that occur twice', () => {
  fc.assert(
    fc.property(contexts, contexts, (context, prefix) => {
      const order = alignContext(context, prefix)
      expect(order.toSorted((a, b) => a - b)).toEqual([...context.keys()])
    }),
  )
})

test('the blocks of the prefix come first, in its order, and the rest keeps its order', () => {
  fc.assert(
    fc.property(contexts, contexts, (context, prefix) => {
      const unique = [...new Set(prefix)]
      const ordered = alignContext(context, unique).map((place) => context[place]!)
      const shared = unique.filter((block) => context.includes(block))
      expect(ordered.slice(0, shared.length)).toEqual(shared)
      const rest = alignContext(context, unique).slice(shared.length)
      expect(rest).toEqual(rest.toSorted((a, b) => a - b))
    }),
  )
})

test('without a prefix nothing moves', () => {
  const context = ['b', 'a', 'b'] as unknown as Context
  expect(alignContext(context, [])).toEqual([0, 1, 2])
})
