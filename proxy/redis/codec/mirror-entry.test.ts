import fc from 'fast-check'
import { Packr } from 'msgpackr'
import { expect, test } from 'vitest'
import type { MirroredPrompt } from '#index/cache-event.ts'
import { type RequestId, toBlockId } from '#index/context-block.ts'
import { type MirrorEntry, readEntry, readPrompt, writeEntry, writePrompt } from './mirror-entry.ts'
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
    fc.property(mirroredPrompt, (prompt) => {
      expect(readPrompt(writePrompt(prompt)!)).toEqual(prompt)
    }),
  )
})

test('what was cut, grown or is any bytes at all makes nothing throw, and is believed only if it is whole', () => {
  fc.assert(
    fc.property(mirroredPrompt, fc.nat(), (prompt, at) => {
      const bytes = writePrompt(prompt)!
      expect(readPrompt(bytes.subarray(0, at % bytes.length))).toBeUndefined()
      expect(readPrompt(Buffer.concat([bytes, Buffer.from([0])]))).toBeUndefined()
    }),
  )
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      const read = readPrompt(Buffer.from(bytes))
      if (!read) return
      for (const { blocks, sizes, ends } of read.contexts) {
        expect([sizes.length, ends.length]).toEqual([blocks.length, blocks.length])
      }
      expect(read.ends.every((end) => end <= read.length)).toBe(true)
    }),
    { numRuns: 1_000 },
  )
})

test('a prompt with a number that is none, or too large, is not believed, nor one that is a text of references', () => {
  const context: unknown[] = ['scope', ['a', 'b'], [3, 4], [3, 7]]
  const whole: unknown[] = [7, [1], [7], [context]]
  expect(readPrompt(pack(whole))).toBeDefined()
  for (const odd of [2n ** 60n, { valueOf: 1, toString: 1 }, 1e15, -1, 'x', null]) {
    const lists = [whole.with(0, odd), whole.with(2, [odd]), whole.with(3, [context.with(2, [3, odd])])]
    for (const list of lists) expect(readPrompt(pack(list))).toBeUndefined()
  }
  const referring = new Packr({ useRecords: false, structuredClone: true })
  const same = ['scope', ['a'], [1], [1]]
  expect(readPrompt(referring.pack([7, [1], [7], [same, same]]))).toBeUndefined()
})

const number = fc.maxSafeNat()
const record = fc.record({
  kind: fc.constantFrom('sent' as const, 'known' as const, 'held' as const, 'counted' as const, 'gone' as const),
  request: requestName as fc.Arbitrary<RequestId>,
  heldLength: fc.nat(),
  tokensPerCharacter: fc.option(fc.double({ min: 1e-6, max: 4, noNaN: true }), { nil: undefined }),
  reportedTokens: fc.option(fc.nat(), { nil: undefined }),
  prompt: fc.option(
    fc.uint8Array().map((bytes) => Buffer.from(bytes)),
    { nil: undefined },
  ),
})
const entry: fc.Arbitrary<MirrorEntry> = fc.record({
  tag: number,
  before: number,
  at: number,
  anew: fc.constantFrom('replaced' as const, 'cleared' as const, undefined),
  generation: wellFormed,
  born: number,
  sequence: number,
  isWhole: fc.boolean(),
  reuse: fc.constantFrom(null, { ratio: 0.1, min_ratio: 0, max_ratio: 1, users: true }),
  records: fc.array(record, { maxLength: 3 }),
})

test('an entry is read as it was written, and nothing that cannot be one', () => {
  fc.assert(
    fc.property(entry, fc.nat(), (entry, at) => {
      const bytes = writeEntry(entry)
      expect(readEntry(bytes)).toEqual(entry)
      expect(readEntry(bytes.subarray(0, at % bytes.length))).toBeUndefined()
      expect(readEntry(writeEntry({ ...entry, sequence: -1 }))).toBeUndefined()
      const [odd] = entry.records
      if (odd === undefined) return
      for (const tokensPerCharacter of [Number.NaN, -1, 0, Number.POSITIVE_INFINITY])
        expect(readEntry(writeEntry({ ...entry, records: [{ ...odd, tokensPerCharacter }] }))).toBeUndefined()
    }),
  )
  fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => void readEntry(Buffer.from(bytes))))
})

test('a prompt without end is not written down', () => {
  const symbols = new Array<number>(1 << 18).fill(2 ** 31 - 1)
  const prompt: MirroredPrompt = { contexts: [], symbols, ends: symbols, length: 2 ** 31 - 1 }
  expect(writePrompt(prompt)).toBeUndefined()
})

test('a prompt longer than a number of it can be is not believed', () => {
  const prompt: MirroredPrompt = { contexts: [], symbols: [], ends: [], length: 2 ** 31 - 1 }
  expect(readPrompt(writePrompt(prompt)!)).toBeDefined()
  expect(readPrompt(writePrompt({ ...prompt, length: 2 ** 31 })!)).toBeUndefined()
})
