import fc from 'fast-check'
import { expect, test } from 'vitest'
import { DigestSet } from './digest-set.ts'

const half = fc.oneof(fc.integer({ min: -3, max: 3 }), fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }))

test('holds what was added and nothing else, to the last bit of a digest', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(half, half), { maxLength: 60 }), fc.array(fc.tuple(half, half)), (added, asked) => {
      const set = new DigestSet(60)
      const model = new Set<string>()
      const nameOf = ([high, low]: [number, number]): string => `${high} ${low | 1}`
      for (const digest of added) {
        expect(set.add(...digest)).toBe(model.has(nameOf(digest)))
        model.add(nameOf(digest))
      }
      for (const digest of [...added, ...asked]) expect(set.has(...digest)).toBe(model.has(nameOf(digest)))
      expect(set.isFull).toBe(model.size >= 60)
      set.clear()
      expect(added.some((digest) => set.has(...digest))).toBe(false)
    }),
  )
})
