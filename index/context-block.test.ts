import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { digestOf, toBlockId } from './context-block.ts'

test('equal content gives equal ids, and every byte counts', () => {
  expect(toBlockId('a block')).toBe(toBlockId('a block'))
  for (const other of ['a block ', 'A block', 'a\u00a0block', 'a block\n', ''])
    expect(toBlockId(other)).not.toBe(toBlockId('a block'))
  // composed and decomposed forms look the same to a reader, but not to a tokeniser
  expect(toBlockId('\u00e9')).not.toBe(toBlockId('e\u0301'))
})

test('lone surrogates are told apart', () => {
  expect(toBlockId('\ud800')).not.toBe(toBlockId('\ud801'))
  expect(toBlockId('\ud800')).not.toBe(toBlockId('\ufffd'))
})

test('a digest is the first 128 bits of SHA-256', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(digestOf(text)).toBe(createHash('sha256').update(text).digest().toString('base64url', 0, 16))
    }),
  )
})
