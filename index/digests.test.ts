import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type BlockId, toBlockId } from './context-block.ts'
import { Digests, packDigests, readDigest } from './digests.ts'

const digest = fc.uint8Array({ minLength: 16, maxLength: 16 }).map((bytes) => Buffer.from(bytes))
const nearly = fc.oneof(
  fc.string({ minLength: 20, maxLength: 23 }),
  digest.map((bytes) => `~${bytes.toString('base64url')}`),
  digest.map((bytes) => bytes.toString('base64')),
  // unused bits are set
  digest.map((bytes) => `${bytes.toString('base64url').slice(0, 21)}B`),
  digest.map((bytes) => `${bytes.toString('base64url').slice(0, 21)}Ā`),
)

test('a digest is read from its name and from bytes alike, and nothing else is one', () => {
  fc.assert(
    fc.property(digest, (bytes) => {
      const words = new Int32Array(4)
      expect(readDigest(bytes.toString('base64url'), words)).toBe(true)
      expect([...words]).toEqual([0, 4, 8, 12].map((at) => bytes.readInt32BE(at)))
    }),
  )
  fc.assert(
    fc.property(nearly, (name) => {
      const bytes = Buffer.from(name, 'base64url')
      expect(readDigest(name, new Int32Array(4))).toBe(bytes.length === 16 && bytes.toString('base64url') === name)
    }),
  )
})

test('digests in bytes have their words and names where they lie', () => {
  const names = ['one', 'two', 'three'].map(toBlockId)
  expect(packDigests([...names, 'four' as BlockId])).toBeUndefined()
  const digests = new Digests(packDigests(names)!)
  expect(digests.length).toBe(3)
  const words = new Int32Array(4)
  names.forEach((name, i) => {
    readDigest(name, words)
    expect(digests.nameOf(i)).toBe(name)
    expect([0, 1, 2, 3].map((word) => digests.wordOf(i, word))).toEqual([...words])
  })
})
