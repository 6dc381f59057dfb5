import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { DigestTexts } from './digest-texts.ts'

test('a digest is told as base64url, be it known, new, or one that takes the place of another', () => {
  const texts = new DigestTexts()
  // few first bytes, so that many share a place
  const digests = Array.from({ length: 5_000 }, (_, i) =>
    Buffer.concat([Buffer.from([i % 7, 0, 0, 0]), randomBytes(12)]),
  )
  for (let round = 0; round < 2; round++) {
    for (const digest of digests) {
      const bytes = Buffer.concat([Buffer.from([1, 2, 3]), digest])
      for (let i = 0; i < 2; i++) if (texts.read(bytes, 3) !== digest.toString('base64url')) expect.fail()
    }
  }
  expect(texts.read(Buffer.alloc(16), 0)).toBe('A'.repeat(22))
})
