import fc from 'fast-check'
import { expect, test } from 'vitest'
import { finishHash, hashOn, hashText, hashWord } from './murmur-hash.ts'

test('is MurmurHash3: the reference values of its authors’ verification text', () => {
  expect(hashText('')).toBe(0)
  expect(hashText('', 1)).toBe(0x514e28b7)
  expect(hashText('aaaa', 0x9747b28c)).toBe(0x5a97808a)
  expect(hashText('Hello, world!', 0x9747b28c)).toBe(0x24884cba)
})

test('the hash of words in steps is the hash of their bytes', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(2 ** 32 - 1)), fc.nat(20), (list, cut) => {
      const words = Uint32Array.from(list)
      const split = Math.min(cut, words.length)
      const state = hashOn(hashOn(0, words, 0, split), words, split, words.length)
      expect(finishHash(state, words.length)).toBe(hashText(Buffer.from(words.buffer).toString('latin1')))
      if (words.length === 1) expect(finishHash(state, 1)).toBe(hashWord(words[0]!))
    }),
  )
})
