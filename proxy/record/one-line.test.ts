import fc from 'fast-check'
import { expect, test } from 'vitest'
import { toOneLine } from './recorder.ts'

test('a body in one line is the same JSON, with its numbers as they were written', () => {
  fc.assert(
    fc.property(fc.json(), fc.constantFrom(0, 2, '\t'), fc.constantFrom('\n', '\r\n', '\r'), (json, indent, end) => {
      const value: unknown = JSON.parse(json)
      const body = `\uFEFF${JSON.stringify(value, null, indent).replaceAll('\n', end)}${end}`
      const line = toOneLine(Buffer.from(body))
      expect(line).not.toMatch(/[\r\n]/)
      expect(JSON.parse(line)).toEqual(value)
    }),
  )
  expect(toOneLine(Buffer.from('{"seed":\n12345678901234567890}'))).toBe('{"seed": 12345678901234567890}')
})
