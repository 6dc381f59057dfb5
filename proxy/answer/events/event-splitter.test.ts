import { createParser } from 'eventsource-parser'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { EventSplitter } from './event-splitter.ts'

function partsOf(splitter: EventSplitter, chunks: readonly Buffer[]): { kind: string; text: string }[] {
  const parts = chunks.flatMap((chunk) => splitter.push(chunk))
  return [...parts, { kind: 'rest', bytes: splitter.end() }].map(({ kind, bytes }) => ({ kind, text: String(bytes) }))
}

function bytewise(text: string): Buffer[] {
  return [...Buffer.from(text)].map((byte) => Buffer.from([byte]))
}

it.each([
  ['\n', ['data: é\n\n', ': ping\n\n', 'event: a\ndata: b\n\n', '\n']],
  ['\r\n', ['data: é\r\n\r\n', ': ping\r\n\r\n', 'event: a\r\ndata: b\r\n\r\n', '\r\n']],
  ['\r', ['data: é\r\r', ': ping\r\r', 'event: a\rdata: b\r\r', '\r']],
])('events end with a blank line, with line ends of %j', (_, events) => {
  const stream = events.join('')
  const whole = partsOf(new EventSplitter(100), [Buffer.from(stream)])
  expect(whole).toEqual([...events.map((text) => ({ kind: 'event', text })), { kind: 'rest', text: '' }])
})

it('an event is there as soon as its blank line is, though its last line feed is still to come', () => {
  const splitter = new EventSplitter(100)
  expect(partsOf(splitter, bytewise('data: x\r\n\r\n'))).toEqual([
    { kind: 'event', text: 'data: x\r\n\r' },
    { kind: 'line_feed', text: '\n' },
    { kind: 'rest', text: '' },
  ])
})

it('an event that is too long is passed on as it comes, and the next one is whole again', () => {
  const splitter = new EventSplitter(10)
  const parts = partsOf(splitter, bytewise('data: 0123456789\r\n\r\ndata: x\n\nid'))
  expect(parts.filter(({ kind }) => kind !== 'fragment')).toEqual([
    { kind: 'line_feed', text: '\n' },
    { kind: 'event', text: 'data: x\n\n' },
    { kind: 'rest', text: 'id' },
  ])
  expect(parts.map(({ text }) => text).join('')).toBe('data: 0123456789\r\n\r\ndata: x\n\nid')
})

it('at any split, the parts are the stream and its events those that a parser sees', () => {
  const sign = fc.constantFrom('\n', '\r\n', '\r', 'data: x', 'data: é', ': ping', 'event: a', 'id: 1')
  fc.assert(
    fc.property(fc.array(sign, { maxLength: 14 }), fc.array(fc.nat(60), { maxLength: 6 }), (signs, cuts) => {
      const stream = Buffer.from(signs.join(''))
      const bounds = [0, ...cuts.map((cut) => Math.min(cut, stream.length)).sort((a, b) => a - b), stream.length]
      const chunks = bounds.slice(1).map((end, i) => stream.subarray(bounds[i], end))
      const parts = partsOf(new EventSplitter(1000), chunks)
      expect(parts.map(({ text }) => text).join('')).toBe(stream.toString())
      const events = parts.filter(({ kind, text }) => kind === 'event' && /^data: /m.test(text.replaceAll('\r', '\n')))
      const seen: string[] = []
      const parser = createParser({ onEvent: ({ data }) => seen.push(data) })
      // the parser waits for what follows a carriage return
      parser.feed(stream.toString().replace(/\r\n?/g, '\n'))
      expect(events.length).toBe(seen.length)
    }),
    { numRuns: 2000 },
  )
})

it('ten megabytes without an end in chunks of a byte take linear time', () => {
  const splitter = new EventSplitter(16 << 20)
  const byte = Buffer.from('x')
  for (let i = 0; i < 10 << 20; i++) splitter.push(byte)
  expect(splitter.end().length).toBe(10 << 20)
  // with quadratic run time the test would time out
})
