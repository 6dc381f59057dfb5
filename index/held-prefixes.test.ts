import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ScopeId } from './context-block.ts'
import { HeldPrefixes, type TokenDensity } from './held-prefixes.ts'

const prefix = 'p' as ScopeId
const density = (tokensPerCharacter?: number): TokenDensity => ({ tokensPerCharacter })

test('a prefix is held until the last of its holders has let it go', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.boolean()), { maxLength: 50 }), (steps) => {
      const held = new HeldPrefixes()
      const counts = new Map<string, number>()
      for (const [name, isAdded] of steps) {
        const before = counts.get(name) ?? 0
        if (isAdded) {
          expect(held.add(name as ScopeId, density())).toBe(before === 0)
          counts.set(name, before + 1)
        } else if (before > 0) {
          expect(held.remove(name as ScopeId)).toBe(before === 1)
          counts.set(name, before - 1)
        }
        for (const [known, count] of counts) expect(held.find(known as ScopeId) !== undefined).toBe(count > 0)
        expect(held.size).toBe([...counts.values()].filter((count) => count > 0).length)
      }
    }),
  )
})

test('the density of a holder that was counted is known, whoever came first', () => {
  const [counted, uncounted] = [density(0.5), density()]
  for (const order of [
    [counted, uncounted, uncounted],
    [uncounted, uncounted, counted],
  ]) {
    const held = new HeldPrefixes()
    for (const one of order) held.add(prefix, one)
    expect(held.find(prefix)?.tokensPerCharacter).toBe(0.5)
  }
})

test('a density is known as soon as it is counted', () => {
  const held = new HeldPrefixes()
  const [first, second] = [density(), density()]
  held.add(prefix, first)
  expect(held.find(prefix)?.tokensPerCharacter).toBeUndefined()
  first.tokensPerCharacter = 0.3
  held.add(prefix, second)
  expect(held.find(prefix)?.tokensPerCharacter).toBe(0.3)
})
