import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Context } from '#index/context-block.ts'
import { contextDistance } from './context-distance.ts'

const context = (...ids: number[]): Context => ids.map(String) as unknown as Context

// ContextPilot §4.1: contexts that an overlap-only metric cannot distinguish
const [a, b, c, d] = [context(3, 5, 1, 7), context(2, 6, 3, 5), context(3, 5, 8, 9), context(2, 6, 4, 0)]

test("the paper's A, B, C and D: pairs that share two of four blocks are 0.5 apart but for position", () => {
  expect(contextDistance(a, b)).toBeCloseTo(0.5, 2)
  expect(contextDistance(b, c)).toBeCloseTo(0.5, 2)
  expect(contextDistance(b, d)).toBeCloseTo(0.5, 2)
})

test('B and D share {2, 6} in the same positions and are nearest', () => {
  expect(contextDistance(b, d)).toBe(0.5)
  // 3 and 5 are each displaced by two positions: 0.001 × (2 + 2) / 2
  expect(contextDistance(a, b)).toBeCloseTo(0.502, 12)
  expect(contextDistance(b, c)).toBeCloseTo(0.502, 12)
})

test('contexts that share nothing are 1 apart, equal ones 0', () => {
  expect(contextDistance(context(1, 2), context(3))).toBe(1)
  expect(contextDistance(a, a)).toBe(0)
  expect(contextDistance([], [])).toBe(1)
})

test('the distance is symmetric and does not fall below 0', () => {
  const contexts = fc.uniqueArray(fc.integer({ min: 0, max: 20 })).map((ids) => context(...ids))
  fc.assert(
    fc.property(contexts, contexts, (left, right) => {
      expect(contextDistance(left, right)).toBe(contextDistance(right, left))
      expect(contextDistance(left, right)).toBeGreaterThanOrEqual(0)
    }),
  )
})
