import fc from 'fast-check'
import { expect, test } from 'vitest'
import { UsageReader } from './read-usage.ts'

const usage = (prompt: number, cached?: number): string =>
  JSON.stringify({
    choices: [],
    usage: { prompt_tokens: prompt, prompt_tokens_details: cached === undefined ? null : { cached_tokens: cached } },
  })

function read(contentType: string, chunks: readonly (Buffer | string)[]): ReturnType<UsageReader['read']> {
  const reader = new UsageReader(contentType)
  for (const chunk of chunks) reader.push(Buffer.from(chunk))
  return reader.read()
}

test('the usage of a whole answer', () => {
  expect(read('application/json', [usage(10, 4)])).toEqual({ promptTokens: 10, cachedTokens: 4 })
  expect(read('application/json', [usage(10)])).toEqual({ promptTokens: 10, cachedTokens: undefined })
  expect(read('application/json', ['{"choices":[]}'])).toBeUndefined()
  expect(read('application/json', ['not json'])).toBeUndefined()
  expect(read('text/html', [])).toBeUndefined()
})

test('the last usage of a stream, wherever its bytes are split', () => {
  const stream = Buffer.from(
    `data: {"choices":[{"delta":{"content":"é"}}]}\n\ndata: ${usage(9, 1)}\n\ndata: ${usage(10, 4)}\n\ndata: [DONE]\n\n`,
  )
  fc.assert(
    fc.property(fc.uniqueArray(fc.nat(stream.length)), (cuts) => {
      const places = [0, ...cuts.toSorted((a, b) => a - b), stream.length]
      const chunks = places.slice(1).map((end, i) => stream.subarray(places[i], end))
      expect(read('text/event-stream; charset=utf-8', chunks)).toEqual({ promptTokens: 10, cachedTokens: 4 })
    }),
  )
})

test('of a long stream only the end is kept, and it is enough', () => {
  const events = Array.from({ length: 20_000 }, (_, i) => `data: {"i":${i}}\n\n`)
  expect(read('text/event-stream', [...events, `data: ${usage(10, 4)}\n\ndata: [DONE]\n\n`])).toEqual({
    promptTokens: 10,
    cachedTokens: 4,
  })
})
