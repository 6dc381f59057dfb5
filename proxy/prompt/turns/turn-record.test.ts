import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { SentOrder, SentTurn, TurnKey } from '#index/conversation-store.ts'
import { maxRecordCharacters, readTurnRecord, toTurnRecord } from './turn-record.ts'

const turn = 'conversation.turn' as TurnKey
const order: fc.Arbitrary<SentOrder> = fc.nat(8).chain((count) =>
  fc.record({
    order: fc.shuffledSubarray(
      Array.from({ length: count + 1 }, (_, i) => i),
      { minLength: count + 1 },
    ),
    annotation: fc.option(fc.string(), { nil: undefined }),
    pointers: fc.array(
      fc
        .record({
          place: fc.nat(count),
          start: fc.nat(1000),
          text: fc.string(),
          target: fc.string(),
          label: fc.string(),
          hint: fc.record({
            begins: fc.option(fc.string(), { nil: undefined }),
            ends: fc.option(fc.string(), { nil: undefined }),
          }),
        })
        .map((pointer) => ({ ...pointer, end: pointer.start + 1, target: pointer.target as never })),
      { maxLength: 4 },
    ),
  }),
)
const positions = fc.array(fc.array(fc.nat(), { maxLength: 9 }), { maxLength: 3 })
const sentTurn: fc.Arbitrary<SentTurn> = fc.oneof(
  fc.record(
    {
      kind: fc.constant('ordered' as const),
      contexts: fc.array(order, { maxLength: 4 }),
      spans: positions,
      labels: positions,
    },
    { requiredKeys: ['kind', 'contexts'] },
  ),
  fc.record({
    kind: fc.constant('explicit' as const),
    blocks: fc.array(fc.string({ unit: 'binary' })),
    context: order,
  }),
  fc.constant({ kind: 'ambiguous' as const }),
)

test('every turn is read as it was written, and only under its own name', () => {
  fc.assert(
    fc.property(sentTurn, (sent) => {
      const { text, head } = toTurnRecord(turn, sent, 'proxy.1')!
      expect(text.startsWith(head)).toBe(true)
      expect(readTurnRecord(turn, text)).toEqual(sent)
      expect(readTurnRecord('conversation.other' as TurnKey, text)).toBeUndefined()
    }),
  )
})

test('no text makes it throw, and what was cut or changed is not believed', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      expect(readTurnRecord(turn, `x\n${text}`)).toBeUndefined()
    }),
  )
  fc.assert(
    fc.property(sentTurn, fc.nat(), (sent, at) => {
      const { text } = toTurnRecord(turn, sent, 'proxy.1')!
      expect(readTurnRecord(turn, text.slice(0, at % text.length))).toBeUndefined()
    }),
  )
})

test('the same blocks in another order are one kind, other blocks another', () => {
  const context = { order: [0], annotation: undefined, pointers: [] }
  const kindOf = (...blocks: string[]): string => toTurnRecord(turn, { kind: 'explicit', blocks, context }, 'n')!.kind
  expect(kindOf('a', 'b')).toBe(kindOf('b', 'a'))
  expect(kindOf('a', 'b')).not.toBe(kindOf('a', 'c'))
  expect(kindOf('a,b')).not.toBe(kindOf('a', 'b'))
})

test('a turn without end is not written down', () => {
  const context = { order: [0], annotation: undefined, pointers: [] }
  const blocks = ['x'.repeat(maxRecordCharacters)]
  expect(toTurnRecord(turn, { kind: 'explicit', blocks, context }, 'n')).toBeUndefined()
})
