import fc from 'fast-check'
import { Packr } from 'msgpackr'
import { expect, test } from 'vitest'
import type { MirroredPrompt } from '#index/cache-event.ts'
import { toBlockId } from '#index/context-block.ts'
import { withNames } from '#index/mirror/mirrored-prompt.ts'
import { readPrompt, readRecordHead, recordHeadBytes, writePrompt, writeRecordHead } from './mirror-record.ts'
import { pack } from './pack.ts'

const name = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.nat().map((n) => toBlockId(String(n))),
  fc.string({ minLength: 22, maxLength: 22 }),
)
const wellFormed = name.filter((text) => text.isWellFormed())
const ascending = (length: number): fc.Arbitrary<number[]> =>
  fc.array(fc.nat(1 << 20), { minLength: length, maxLength: length }).map((all) => all.toSorted((a, b) => a - b))
const context = fc.nat(5).chain((count) =>
  fc.record({
    scope: wellFormed,
    blocks: fc.array(wellFormed, { minLength: count, maxLength: count }),
    sizes: fc.array(fc.nat(), { minLength: count, maxLength: count }),
    ends: ascending(count),
  }),
)
const mirroredPrompt = fc.nat(5).chain((count) =>
  fc.record({
    contexts: fc.array(context, { maxLength: 3 }),
    symbols: fc.array(fc.integer(), { minLength: count, maxLength: count }),
    ends: ascending(count),
    length: fc.integer({ min: 1 << 20, max: 2 ** 31 - 1 }),
  }),
) as fc.Arbitrary<unknown> as fc.Arbitrary<MirroredPrompt>
const requestName = wellFormed.filter((text) => text !== '')

test('every prompt is read as it was written', () => {
  fc.assert(
    fc.property(requestName, mirroredPrompt, (request, prompt) => {
      const read = readPrompt(writePrompt(request, prompt)!)!
      expect({ ...read, prompt: withNames(read.prompt) }).toEqual({ request, prompt })
    }),
  )
})

test('what was cut, grown or is any bytes at all makes nothing throw, and is believed only if it is whole', () => {
  fc.assert(
    fc.property(requestName, mirroredPrompt, fc.nat(), (request, prompt, at) => {
      const bytes = writePrompt(request, prompt)!
      expect(readPrompt(bytes.subarray(0, at % bytes.length))).toBeUndefined()
      expect(readPrompt(Buffer.concat([bytes, Buffer.from([0])]))).toBeUndefined()
    }),
  )
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      const read = readPrompt(Buffer.from(bytes))
      if (!read) return
      for (const { blocks, sizes, ends } of read.prompt.contexts) {
        expect([sizes.length, ends.length]).toEqual([blocks.length, blocks.length])
      }
      expect(read.prompt.ends.every((end) => end <= read.prompt.length)).toBe(true)
    }),
    { numRuns: 1_000 },
  )
})

test('a prompt with a number that is none, or too large, is not believed, nor one that is a text of references', () => {
  const context: unknown[] = ['scope', ['a', 'b'], [3, 4], [3, 7]]
  const whole: unknown[] = ['r', 7, [1], [7], [context]]
  expect(readPrompt(pack(whole))).toBeDefined()
  for (const odd of [2n ** 60n, { valueOf: 1, toString: 1 }, 1e15, -1, 'x', null]) {
    const lists = [whole.with(1, odd), whole.with(3, [odd]), whole.with(4, [context.with(2, [3, odd])])]
    for (const list of lists) expect(readPrompt(pack(list))).toBeUndefined()
  }
  const referring = new Packr({ useRecords: false, structuredClone: true })
  const same = ['scope', ['a'], [1], [1]]
  expect(readPrompt(referring.pack(['r', 7, [1], [7], [same, same]]))).toBeUndefined()
})

test('a head is read as it was written, and nothing that cannot be one', () => {
  fc.assert(
    fc.property(
      fc.record({
        epoch: fc.nat(),
        sequence: fc.maxSafeNat(),
        heldLength: fc.nat(),
        tokensPerCharacter: fc.option(fc.double({ min: 1e-6, max: 4, noNaN: true }), { nil: undefined }),
        reportedTokens: fc.option(fc.nat(), { nil: undefined }),
      }),
      (head) => {
        const bytes = writeRecordHead(head)
        expect(bytes).toHaveLength(recordHeadBytes)
        expect(readRecordHead(bytes)).toEqual(head)
        expect(readRecordHead(bytes.subarray(1))).toBeUndefined()
        for (const density of [Number.NaN, -1, Number.POSITIVE_INFINITY]) {
          bytes.writeDoubleBE(density, 17)
          expect(readRecordHead(bytes)).toBeUndefined()
        }
      },
    ),
  )
})

test('a prompt without end is not written down', () => {
  const symbols = new Array<number>(1 << 18).fill(2 ** 31 - 1)
  const prompt: MirroredPrompt = { contexts: [], symbols, ends: symbols, length: 2 ** 31 - 1 }
  expect(writePrompt('r', prompt)).toBeUndefined()
})

test('a prompt longer than a number of it can be is not believed', () => {
  const prompt: MirroredPrompt = { contexts: [], symbols: [], ends: [], length: 2 ** 31 - 1 }
  expect(readPrompt(writePrompt('r', prompt)!)).toBeDefined()
  expect(readPrompt(writePrompt('r', { ...prompt, length: 2 ** 31 })!)).toBeUndefined()
})
