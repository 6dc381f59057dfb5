import fc from 'fast-check'
import { expect, test } from 'vitest'
import { findVolatileText } from './find-volatile-text.ts'
import { moveVolatileText } from './move-volatile-text.ts'

function moved(text: string): string {
  return moveVolatileText(
    text,
    findVolatileText(text).flatMap(({ line }) => line ?? []),
  )
}

test('volatile lines go behind all others, in the order they had', () => {
  const text = 'x-anthropic-billing-header: cch=0aaa9;\nYou are helpful.\nCurrent time: 14:03\nBe brief.\n'
  expect(moved(text)).toBe('You are helpful.\nBe brief.\nx-anthropic-billing-header: cch=0aaa9;\nCurrent time: 14:03\n')
})

test('a last line without a line end gets none in the middle and leaves none at the end', () => {
  expect(moved('Current time: 14:03\r\nYou are helpful.')).toBe('You are helpful.\r\nCurrent time: 14:03')
})

test('a text that holds nothing else stays as it is', () => {
  const text = 'x-anthropic-billing-header: cc_version=2.1; cch=0aaa9;'
  expect(moved(text)).toBe(text)
})

test('two requests that differ only in such a line begin with the same text afterwards', () => {
  const [first, second] = ['14:03', '14:04'].map((time) => moved(`Current time: ${time}\nYou are helpful.\n`))
  const shared = 'You are helpful.\n'
  expect([first!.startsWith(shared), second!.startsWith(shared)]).toEqual([true, true])
})

const line = fc.oneof(
  fc.constantFrom(
    'Current time: 14:03',
    'Current date: 2026-11-21.',
    'x-anthropic-billing-header: cch=1;',
    '<session id="a1">',
    '<session_id>abc123</session_id>',
    '<env>',
    '</env>',
    '```',
    '',
    'You are helpful.',
    '  Current time: 14:03',
  ),
  fc.string({ maxLength: 12 }).map((text) => text.replace(/[\r\n]/g, '')),
)
const text = fc
  .tuple(fc.array(fc.tuple(line, fc.constantFrom('\n', '\r\n')), { maxLength: 12 }), line)
  .map(([lines, last]) => lines.flat().join('') + last)

test('the lines are the same, none is lost or made, and the length stays', () => {
  fc.assert(
    fc.property(text, (original) => {
      const sent = moved(original)
      expect(sent.split(/\r?\n/).toSorted()).toEqual(original.split(/\r?\n/).toSorted())
      expect(sent.length).toBe(original.length)
      expect(sent.match(/\r?\n/g)).toEqual(original.match(/\r?\n/g))
    }),
    { numRuns: 1000 },
  )
})

test('moving again changes nothing', () => {
  fc.assert(
    fc.property(text, (original) => {
      expect(moved(moved(original))).toBe(moved(original))
    }),
    { numRuns: 1000 },
  )
})

test('any whole lines can be moved', () => {
  expect(moveVolatileText('a\nb\nc', [{ start: 0, end: 2 }])).toBe('b\nc\na')
})
