import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { toBlockId } from '#index/context-block.ts'
import { readHotBlocksAnswer, toScore } from './hot-blocks-answer.ts'

const bytes = (value: unknown): unknown =>
  Array.isArray(value) ? value.map((text) => Buffer.from(String(text))) : value
const read = (...value: unknown[]) => readHotBlocksAnswer({ value: bytes(value) })
const block = toBlockId('a')

test('count and size of a block come back as they were written, whatever all counts have fallen by', () => {
  const blocks = fc.record({
    count: fc.integer({ min: 1, max: 2 ** 31 }),
    size: fc.integer({ min: 0, max: 2 ** 20 - 1 }),
  })
  fc.assert(
    fc.property(blocks, fc.nat(), (hot, floor) => {
      const answer = read('done', '#3:life.1', floor, block, floor + toScore(hot), '#3:life.1', floor)
      expect(answer).toMatchObject({ status: 'done', epoch: 3, life: 'life.1', strange: [] })
      expect([...answer!.top.values()]).toEqual([{ block, ...hot }])
    }),
  )
})

test('a block of more than a million characters is taken for one of a million, and counts are not touched by it', () => {
  expect(Math.floor(toScore({ count: 7, size: 2 ** 30 }))).toBe(7)
})

test.each(['late', 'lost'])('what came too late or found too little is known by that one word: %s', (status) => {
  expect(read(status)).toMatchObject({ status })
})

describe('what cannot be relied on', () => {
  test.each([
    ['an error', { error: new Error('down') }],
    ['nothing', undefined],
    ['a text', { value: 'done' }],
    ['an empty list', { value: [] }],
    ['an unknown word', { value: bytes(['fine', '#0:a', '0']) }],
    ['no epoch', { value: bytes(['done', '#:a', '0']) }],
    ['an epoch beyond all numbers', { value: bytes(['done', `#${'9'.repeat(20)}:a`, '0']) }],
    ['no life', { value: bytes(['done', '#1:', '0']) }],
    ['a floor that is no number', { value: bytes(['done', '#1:a', 'nan']) }],
    ['a floor without bounds', { value: bytes(['done', '#1:a', 'inf']) }],
  ])('is no answer: %s', (_title, reply) => {
    expect(readHotBlocksAnswer(reply)).toBeUndefined()
  })

  test.each([
    ['a name that is no block', 'hello', '5'],
    ['bytes that are no text', '\u00ff\u00fe', '5'],
    ['a count below all others', block, '-7'],
    ['a count of zero', block, '2.5'],
    ['no number', block, 'nan'],
    ['a count without bounds', block, 'inf'],
    ['a count beyond what is exact', block, '1e300'],
  ])('is left out, and told of to be removed: %s', (_title, member, score) => {
    const name = Buffer.from(member, 'latin1')
    const other = toBlockId('b')
    const value = [...(bytes(['done', '#1:a', '2']) as Buffer[]), name, ...(bytes([score, other, '3']) as Buffer[])]
    const answer = readHotBlocksAnswer({ value })!
    expect([...answer.top.keys()]).toEqual([other])
    expect(answer.strange).toEqual([name])
  })

  test('never throws, whatever Redis says', () => {
    const texts = fc.oneof(fc.string(), fc.constantFrom('done', 'other', '#1:a', '0', block, '2.5', 'inf', '1e16'))
    const values = fc.array(
      fc.oneof(
        texts.map((text) => Buffer.from(text)),
        fc.integer(),
        fc.constant(null),
      ),
    )
    const heads = fc.oneof(fc.constant(bytes(['done', '#1:a', '0']) as unknown[]), values)
    fc.assert(
      fc.property(heads, values, (head, rest) => {
        for (const { count, size } of readHotBlocksAnswer({ value: [...head, ...rest] })?.top.values() ?? []) {
          expect(Number.isSafeInteger(count) && count > 0).toBe(true)
          expect(Number.isSafeInteger(size) && size >= 0).toBe(true)
        }
      }),
    )
  })
})
