import fc from 'fast-check'
import { expect, test } from 'vitest'
import { expectLinear } from '#proxy/http/bounds/linear-time.fixture.ts'
import { findVolatileText } from './volatile-text.ts'

function found(text: string): [string, string][] {
  return findVolatileText(text).map(({ kind, start, end }) => [kind, text.slice(start, end)])
}

test.each([
  ['x-anthropic-billing-header: cc_version=2.1.177.01c; cc_entrypoint=sdk-cli; cch=0aaa9;', 'attribution'],
  ['x-request-id: 7f', 'attribution'],
  ['<session id="8f2a-11">', 'id'],
  ['<session_id>01HXYZ9</session_id>', 'id'],
  ['Request ID: req_011CSHoE', 'id'],
  ['session_id=8f2a11c0', 'id'],
  ["Today's date is 2026-11-21", 'date'],
  ["Today's date: Sat Nov 21 2026", 'date'],
  ['Today Date: 26 Jul 2024', 'date'],
  ['Today is Saturday, November 21, 2026', 'date'],
  ["Today's date is Saturday, November 21st, 2026", 'date'],
  ['The current date is 21.11.2026', 'date'],
  ['**Current date**: 11/21/2026', 'date'],
  ['Current date (UTC): 2026-11-21', 'date'],
  ['<current_date>2026-11-21</current_date>', 'date'],
  ['Heute ist der 21. November 2026', 'date'],
  ['Heutiges Datum: 21.11.2026', 'date'],
  ['今天是2026年11月21日', 'date'],
  ['Current time: 14:03', 'time'],
  ['The current time is 2:03:22 PM', 'time'],
  ['Current date and time: 2026-11-21 14:03:22', 'time'],
  ['The current date and time is Saturday, November 21, 2026 2:03 PM', 'time'],
  ['Current datetime: 2026-11-21T14:03:22.123456+00:00', 'time'],
  ['Current Time: 11/21/2026, 2:03:04 PM (Europe/Berlin, UTC+1:00)', 'time'],
  ['It is now 14:03 UTC', 'time'],
  ['当前时间：2026-11-21 14:03:22', 'time'],
])('a line that holds nothing but %j is found whole', (line, kind) => {
  expect(found(line)).toEqual([[kind, line]])
  const ended = kind === 'attribution' ? `${line}.` : line
  expect(found(`You are helpful.\r\n${line}.\r\nBe brief.`)[0]).toEqual([kind, ended])
})

test.each([
  ['inside a sentence', "You are helpful. Today's date is 2026-11-21. Be brief.", 'date', "Today's date is 2026-11-21"],
  ['a bare timestamp', '2026-11-21T14:03:22Z', 'timestamp', '2026-11-21T14:03:22Z'],
  ['a UUID', 'trace 0d9a2c1e-43f1-4c1b-9b52-0a1b2c3d4e5f of this run', 'uuid', '0d9a2c1e-43f1-4c1b-9b52-0a1b2c3d4e5f'],
  ['in an element', '<env>\nCurrent date: 2026-11-21\n</env>', 'date', 'Current date: 2026-11-21'],
  ['an item of a list', '- Current date: 2026-11-21', 'date', 'Current date: 2026-11-21'],
])('volatile text is found with its place: %s', (_, text, kind, words) => {
  expect(found(text)).toEqual([[kind, words]])
})

test.each([
  'Cutting Knowledge Date: December 2023',
  'Knowledge cutoff: 2024-06',
  'The contract was signed on 2024-03-01 and ends on 2026-03-01.',
  'Opening hours: 09:00 to 17:30',
  'Write dates like 2024-01-01T14:03:22Z.',
  'For example: current date: 2024-01-01',
  'Pass "request_id": "req_011CSHoE" to the tool.',
  "The user may say 'today is 2024-01-01'.",
  'Use the ISO format, e.g. 2024-01-01T12:34:56Z.',
  'The hotline answers at 2024-01-01T08:00:00Z.',
  'Ask for the request id.',
  'Session id: unknown',
  'The `session_id` is a string.',
  '<session>notes</session>',
  'Document 3: v2.1.177',
  'The current time is shown in the corner.',
  'See https://example.com/0d9a2c1e-43f1-4c1b-9b52-0a1b2c3d4e5f for more.',
  '```\nCurrent date: 2026-11-21\n```',
])('what does not vary is left out: %j', (text) => {
  expect(found(text)).toEqual([])
})

test('only what stands in front of the given end is found', () => {
  const text = 'Current date: 2026-11-21\n[1] Current time: 14:03'
  expect(findVolatileText(text, 25).map(({ kind }) => kind)).toEqual(['date'])
})

test('property: spans are in order and do not overlap', () => {
  const piece = fc.constantFrom(
    'Current date: 2026-11-21',
    'x-anthropic-billing-header: cch=1;',
    '2026-11-21T14:03:22Z',
    'Request ID: req_011C',
    '<a>',
    '</a>',
    '```',
    '\n',
    '\r\n',
    ' ',
    'text',
    '"',
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
      const text = pieces.join('')
      let at = 0
      for (const { start, end } of findVolatileText(text)) {
        expect(start).toBeGreaterThanOrEqual(at)
        expect(end).toBeGreaterThan(start)
        at = end
      }
    }),
    { numRuns: 300 },
  )
})

test.each([
  ['digits', '20261121'],
  ['halves of timestamps', '2026-11-21 14:0 '],
  ['words that announce', 'current date today is the 1 '],
  ['weekdays and months', 'today is saturday, november 2 '],
  ['tags that stay open', '<session a="1" '],
  ['ids without an end', 'request id: 1,'],
  ['one long id', 'a1:'],
  ['line ends', '\n'],
  ['short lines', '1234567\n'],
  ['lines of marks', '<a>\n```1\n'],
  ['examples', 'e.g. 2026-11-21T14:03:22Z '],
])('the search takes linear time in hostile text: %s', (_, unit) => {
  expectLinear((size) => findVolatileText(unit.repeat(Math.ceil(size / unit.length))), 60_000)
})
