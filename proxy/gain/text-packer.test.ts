import fc from 'fast-check'
import { expect, test } from 'vitest'
import { TextPacker } from './text-packer.ts'

test('packs two units per number, whatever was packed before', () => {
  const packer = new TextPacker()
  const texts = fc.array(fc.string({ maxLength: 40, unit: fc.constantFrom('a', 'é', '“', '\0', '\ud800') }))
  fc.assert(
    fc.property(texts, fc.constantFrom(0 as const, 1 as const), (parts, offset) => {
      const units = [...'\0'.repeat(offset), ...parts.flatMap((part) => part.split(''))].map((unit) =>
        unit.charCodeAt(0),
      )
      const expected = Array.from({ length: Math.ceil(units.length / 2) }, (_, i) => {
        const [low = 0, high = 0] = units.slice(2 * i, 2 * i + 2)
        return low | (high << 16)
      })
      expect([...packer.pack(parts, offset)]).toEqual(expected)
    }),
  )
})
