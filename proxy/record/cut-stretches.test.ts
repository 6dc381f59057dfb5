import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cutStretches } from './recorded-prompt.ts'

const line = fc.stringMatching(/^[a-z ,]{0,90}[.\n]$/)
const text = fc.array(line, { minLength: 1, maxLength: 60 }).map((lines) => lines.join(' '))
const textsOf = (whole: string): string[] => cutStretches(whole).map(({ start, end }) => whole.slice(start, end))

test('every character is in one stretch, and none is long', () => {
  fc.assert(
    fc.property(text, (whole) => {
      expect(textsOf(whole).join('')).toBe(whole)
      for (const { start, end } of cutStretches(whole)) expect(end - start).toBeLessThan(2_048 + 512)
    }),
  )
})

test('texts that begin alike begin with the same stretches, up to the one in which they part', () => {
  fc.assert(
    fc.property(text, text, text, (front, one, other) => {
      const [a, b] = [textsOf(`${front} ${one}`), textsOf(`${front} ${other}`)]
      const common = a.findIndex((stretch, i) => stretch !== b[i])
      const shared = (common < 0 ? a : a.slice(0, common)).join('').length
      expect(shared).toBeGreaterThan(front.length - 2_048 - 512)
    }),
  )
})
