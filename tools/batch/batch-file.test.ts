import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { BatchFile } from './batch-file.ts'

const folder = mkdtempSync(join(tmpdir(), 'reprise-batch-'))
afterAll(() => rmSync(folder, { recursive: true }))

function open(text: string | Buffer): BatchFile {
  const path = join(folder, 'batch.jsonl')
  writeFileSync(path, text)
  return new BatchFile(path)
}

function read(text: string | Buffer): unknown[] {
  const file = open(text)
  try {
    return [...file.read()].map((one) => ('code' in one ? `${one.customId}: ${one.code}: ${one.message}` : one.body))
  } finally {
    file.close()
  }
}

const line = (id: string, body: string): string => `{"custom_id":"${id}","method":"POST","url":"/v1/x","body":${body}}`

test('bodies are read as they are written, again and in any order', () => {
  const bodies = fc.array(
    fc.tuple(fc.dictionary(fc.string(), fc.string({ unit: 'grapheme', maxLength: 300 })), fc.nat(3)),
  )
  fc.assert(
    fc.property(bodies, fc.constantFrom('\n', '\r\n', '\n\n'), fc.boolean(), (all, end, isEnded) => {
      const written = all.map(([body, indent]) => JSON.stringify({ ...body, at: indent }))
      const lines = written.map((body, i) => line(`é${i}`, body)).join(end)
      const file = open(lines + (isEnded ? end : ''))
      try {
        const found = [...file.read()].map((one) => ('code' in one ? undefined : one))
        expect(found.map((one) => one?.body)).toEqual(written)
        for (const one of found.toReversed()) expect(file.bodyOf(one!.request)).toBe(one!.body)
      } finally {
        file.close()
      }
    }),
  )
})

test('a line that is longer than what is read at once is one line, and numbers stay as they are', () => {
  const body = `{"n":12345678901234567890.10,"text":"${'x'.repeat(3 << 20)}"}`
  expect(read(`\uFEFF${line('a', body)}\n${line('b', '{}')}`)).toEqual([body, '{}'])
})

test.each([
  ['{"custom_id":"a"', /undefined: invalid_json_line: line 2 is not valid JSON: /],
  [Buffer.from([0x7b, 0xff, 0x7d]), /line 2 is not UTF-8/],
  ['[]', /undefined: invalid_request: line 2: a JSON object is expected/],
  ['{"method":"POST","url":"/v1/x","body":{}}', /undefined: invalid_request: line 2: 'custom_id' has to be a text/],
  ['{"custom_id":"a","method":"GET","url":"/v1/x","body":{}}', /a: invalid_request: .*has to be "POST", not "GET"/],
  ['{"custom_id":"a","method":"POST","url":"http://x","body":{}}', /a: .*has to be a path .*, not "http:\/\/x"/],
  [
    '{"custom_id":"a","method":"POST","url":"/v1/\\u0001x","body":{}}',
    /a: .*has to be a path .*, not "\/v1\/\\u0001x"/,
  ],
  ['{"custom_id":"a","method":"POST","url":"/v1/x\u0142","body":{}}', /a: .*has to be a path/],
  ['{"custom_id":"a","method":"POST","url":"/v1/x"}', /a: invalid_request: line 2: 'body' has to be an object/],
  [line('first', '{}'), /first: duplicate_custom_id: line 2: .* that of line 1/],
  [line('a', '{"stream":true}'), /a: stream_unsupported: line 2: .*leave 'stream' out/],
])('%s is reported with its line; the others are read', (bad, message) => {
  const parts = [
    Buffer.from(`${line('first', '{"n":1}')}\n`),
    Buffer.from(bad),
    Buffer.from(`\n${line('last', '{"n":3}')}`),
  ]
  expect(read(Buffer.concat(parts))).toEqual(['{"n":1}', expect.stringMatching(message), '{"n":3}'])
})

test.each([
  ['nowhere.jsonl', /cannot read .*nowhere\.jsonl/],
  ['batch.jsonl.gz', /unpack it first/],
  ['.', /cannot read .*a file is needed/],
])('%s is no batch', (name, message) => {
  expect(() => new BatchFile(join(folder, name))).toThrow(message)
})
