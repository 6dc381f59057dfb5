import fc from 'fast-check'
import { expect, test } from 'vitest'
import { PageSelection } from './page-selection.ts'

const ratios = fc.double({ min: 0, max: 1, noNaN: true })

test('each step reads what it may of its complete pages, what filled since the choice, and the last page', () => {
  const arguments_ = [ratios, ratios, fc.integer({ min: 1, max: 64 }), fc.nat(5000), fc.nat(200)] as const
  fc.assert(
    fc.property(...arguments_, (minRatio, ratio, pageTokens, prompt, steps) => {
      const selection = new PageSelection({ minRatio, pageTokens }, ratio)
      for (let step = 1; step <= steps; step++) {
        const before = selection.usage
        selection.step(prompt + step)
        const all = Math.ceil((prompt + step) / pageTokens)
        expect(selection.usage.all - before.all).toBe(all)
        const listed = selection.usage.listed - before.listed
        expect(listed).toBeLessThanOrEqual(all)
        const share = Math.max(minRatio, ratio) * (all - 1)
        expect(listed).toBeGreaterThanOrEqual(Math.min(all, Math.floor(share)))
        // a choice holds for two steps, and each step may fill a page
        expect(listed).toBeLessThanOrEqual(Math.max(3, Math.ceil(share)) + 3)
      }
      expect(selection.usage.choices).toBe(Math.ceil(steps / 2))
      expect(selection.usage.backtracks).toBe(0)
    }),
  )
})

test('a share of all reads all', () => {
  const selection = new PageSelection({ minRatio: 0.1, pageTokens: 16 }, 1)
  for (let tokens = 100; tokens < 300; tokens++) selection.step(tokens)
  expect(selection.usage.listed).toBe(selection.usage.all)
})
