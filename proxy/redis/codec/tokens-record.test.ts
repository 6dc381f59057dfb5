import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readTokensRecord, writeTokens } from '../shared-tokens.ts'

test('tokens are read as they were written', () => {
  const token = fc.integer({ min: 0, max: 2 ** 32 - 1 })
  fc.assert(
    fc.property(fc.uint32Array({ minLength: 1 }), fc.string({ unit: 'grapheme' }), token, (tokens, scope, last) => {
      const prompt = { tokens: Uint32Array.from([...tokens, last]), scope }
      expect(readTokensRecord(writeTokens(prompt))).toEqual(prompt)
    }),
  )
})

test('what cannot be relied on is not read', () => {
  const whole = writeTokens({ tokens: Uint32Array.of(1, 2), scope: 's' })!
  const damaged = [
    whole.subarray(0, -1),
    whole.subarray(0, 4),
    Buffer.from([9, ...whole.subarray(1)]),
    Buffer.of(),
    'text',
  ]
  for (const bytes of damaged) expect(readTokensRecord(bytes)).toBeUndefined()
})
