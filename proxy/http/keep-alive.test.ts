import fc from 'fast-check'
import { expect, it } from 'vitest'
import { endOfStream, isBetweenEvents } from './keep-alive.ts'

function isAtBoundary(stream: string): boolean {
  return isBetweenEvents(endOfStream('', Buffer.from(stream)))
}

it.each([
  '',
  '\n',
  '\r\n',
  'data: x\n\n',
  'data: x\r\n\r\n',
  'data: x\r\r',
  'data: x\n\r\n',
  ': ping\n\ndata: x\n\n\n',
])('a comment may be put behind %j', (stream) => {
  expect(isAtBoundary(stream)).toBe(true)
})

it.each(['x', 'data: x', 'data: x\n', 'data: x\r\n', 'data: x\r', 'data: x\n\nd', '\n\nid: 1\n', 'é\n'])(
  'nothing may be put behind %j',
  (stream) => {
    expect(isAtBoundary(stream)).toBe(false)
  },
)

it('stands where a line by line reading stands, whatever the chunks', () => {
  const sign = fc.constantFrom('\n', '\r', '\r\n', 'd', 'é', 'data: x', ': ping')
  fc.assert(
    fc.property(fc.array(sign, { maxLength: 12 }), fc.array(fc.nat(20), { maxLength: 5 }), (signs, cuts) => {
      const stream = Buffer.from(signs.join(''))
      let end = ''
      let at = 0
      for (const cut of [...cuts.sort((a, b) => a - b), stream.length]) {
        end = endOfStream(end, stream.subarray(at, Math.max(at, cut)))
        at = Math.max(at, cut)
      }
      // the last line is empty and terminated, or there is none
      const lines = stream.toString().split(/\r\n|\r|\n/)
      expect(isBetweenEvents(end)).toBe(lines.length === 1 ? lines[0] === '' : lines.slice(-2).join('') === '')
    }),
    { numRuns: 3000 },
  )
})
