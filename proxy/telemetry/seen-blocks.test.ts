import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { SentPrompt } from '#index/cache-event.ts'
import type { BlockId, ScopeId } from '#index/context-block.ts'
import { SeenBlocks } from './seen-blocks.ts'

const size = 10

/** A prompt of one context behind 5 characters of a system prompt, every block 10 characters long. */
function promptOf(tenant: string, blocks: readonly string[]): SentPrompt {
  const ends = blocks.map((_, i) => 5 + size * (i + 1))
  const prefixOf = (length: number): ScopeId => `${tenant}|${blocks.slice(0, length).join()}` as ScopeId
  return {
    contexts: [{ scope: prefixOf(0), blocks: blocks as unknown as BlockId[], sizes: blocks.map(() => size), ends }],
    prefixes: [prefixOf(0), ...blocks.map((_, i) => prefixOf(i + 1))],
    ends: [5, ...ends],
    length: 5 + size * blocks.length,
  }
}

test('a block counts as seen wherever it stood, and what stands in front of the first block does too', () => {
  const seen = new SeenBlocks()
  expect(seen.note('t', promptOf('t', ['a', 'b']))).toBe(0)
  expect(seen.note('t', promptOf('t', ['c', 'b']))).toBe(5 + size)
  expect(seen.note('t', promptOf('t', ['c', 'b']))).toBe(5 + 2 * size)
  // the second of two equal blocks stands behind the first
  expect(seen.note('t', promptOf('t', ['d', 'd']))).toBe(5 + size)
})

test('tenants know nothing of each other', () => {
  const seen = new SeenBlocks()
  seen.note('t', promptOf('t', ['a', 'b']))
  expect(seen.note('u', promptOf('u', ['a', 'b']))).toBe(0)
})

test('what was seen longest ago is forgotten first', () => {
  const seen = new SeenBlocks(4)
  seen.note('t', promptOf('t', ['a']))
  seen.note('t', promptOf('t', ['b', 'c']))
  expect(seen.note('t', promptOf('t', ['a']))).toBe(0)
})

test('it is a bound: never less than the longest prefix that was sent before, never more than the prompt', () => {
  const prompts = fc.array(fc.uniqueArray(fc.constantFrom(...'abcdef'), { maxLength: 6 }), { maxLength: 20 })
  fc.assert(
    fc.property(prompts, (all) => {
      const seen = new SeenBlocks(1_000)
      all.forEach((blocks, i) => {
        const shared = all.slice(0, i).map((earlier) => {
          const parted = blocks.findIndex((block, at) => block !== earlier[at])
          return 5 + size * (parted < 0 ? blocks.length : parted)
        })
        const bound = seen.note('t', promptOf('t', blocks))
        expect(bound).toBeGreaterThanOrEqual(Math.max(0, ...shared))
        expect(bound).toBeLessThanOrEqual(5 + size * blocks.length)
      })
    }),
  )
})
