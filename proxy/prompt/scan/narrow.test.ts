import fc from 'fast-check'
import { expect, test } from 'vitest'
import { narrow } from './find-edges.ts'

test('a text stays as it is, whatever it holds', () => {
  const latin = fc.string({ unit: fc.constantFrom('x', 'é', 'ÿ', '\u0000', '\u0080') })
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), latin, (any, narrowed) => {
      expect(narrow(any)).toBe(any)
      expect(narrow(`“${narrowed}`.slice(1))).toBe(narrowed)
    }),
  )
})
