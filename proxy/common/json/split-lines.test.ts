import { Readable } from 'node:stream'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { splitLines } from './split-lines.ts'

const text = fc
  .array(fc.constantFrom('a', '"é"', '😀', '\n', '\r\n', '\r', '\u2028', '\u2029', '\u0085'))
  .map((parts) => parts.join(''))

test('lines are the same however the bytes are cut', async () => {
  await fc.assert(
    fc.asyncProperty(text, fc.integer({ min: 1, max: 5 }), async (written, size) => {
      const expected = written.split('\n')
      if (expected.at(-1) === '') expected.pop()
      expect(await linesOf(cut(Buffer.from(written), size))).toEqual(expected.map((line) => line.replace(/\r$/, '')))
    }),
  )
})

test('only \\n ends a line, and one \\r before it is dropped', async () => {
  expect(await linesOf([Buffer.from('a\u2028b\rc\r\r\n\nd')])).toEqual(['a\u2028b\rc\r', '', 'd'])
})

test('a byte order mark is no part of the first line', async () => {
  expect(await linesOf(cut(Buffer.from('\ufeff{}\n\ufeff'), 2))).toEqual(['{}', '\ufeff'])
})

test('a reader that throws ends the stream, without an unhandled error', async () => {
  const body = new Readable({ read() {} })
  body.push('{\n')
  const read = async () => {
    for await (const line of splitLines(body)) JSON.parse(line)
  }
  await expect(read()).rejects.toThrow(SyntaxError)
  expect(body.destroyed).toBe(true)
})

test('a stream that fails fails its reader', async () => {
  const body = new Readable({ read() {} })
  body.push('a\nb')
  const lines = splitLines(body)
  expect(await lines.next()).toEqual({ value: 'a', done: false })
  body.destroy(new Error('lost'))
  await expect(lines.next()).rejects.toThrow('lost')
})

async function linesOf(chunks: Iterable<Buffer>): Promise<string[]> {
  const lines: string[] = []
  for await (const line of splitLines(Readable.from(chunks))) lines.push(line)
  return lines
}

function* cut(bytes: Buffer, size: number): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}
