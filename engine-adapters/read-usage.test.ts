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
  expect(read('application/json', [usage(10, 4)])).toEqual({
    promptTokens: 10,
    cachedTokens: 4,
    completionTokens: undefined,
  })
  expect(read('application/json', [usage(10)])).toEqual({
    promptTokens: 10,
    cachedTokens: undefined,
    completionTokens: undefined,
  })
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
      expect(read('text/event-stream; charset=utf-8', chunks)).toEqual({
        promptTokens: 10,
        cachedTokens: 4,
        completionTokens: undefined,
      })
    }),
  )
})

test('of a long stream only the end is kept, and it is enough', () => {
  const events = Array.from({ length: 20_000 }, (_, i) => `data: {"i":${i}}\n\n`)
  expect(read('text/event-stream', [...events, `data: ${usage(10, 4)}\n\ndata: [DONE]\n\n`])).toEqual({
    promptTokens: 10,
    cachedTokens: 4,
    completionTokens: undefined,
  })
})

test.each([
  ['responses', '{"usage":{"input_tokens":10,"input_tokens_details":{"cached_tokens":4},"output_tokens":2}}'],
  [
    'messages',
    '{"usage":{"input_tokens":5,"cache_read_input_tokens":4,"cache_creation_input_tokens":1,"output_tokens":2}}',
  ],
  ['generate', '{"text":"x","meta_info":{"prompt_tokens":10,"cached_tokens":4,"completion_tokens":2}}'],
  [
    'generate of several prompts',
    '[{"meta_info":{"prompt_tokens":6,"cached_tokens":0,"completion_tokens":1}},{"meta_info":{"prompt_tokens":4,"cached_tokens":4,"completion_tokens":1}}]',
  ],
])('the usage as %s has it', (_, answer) => {
  expect(read('application/json', [answer])).toEqual({ promptTokens: 10, cachedTokens: 4, completionTokens: 2 })
})

test.each([
  ['responses', '{"type":"response.completed","response":{"usage":{"input_tokens":10,"output_tokens":2}}}'],
  ['messages', '{"type":"message_delta","usage":{"input_tokens":10,"output_tokens":2}}'],
  ['generate', '{"text":"x","meta_info":{"prompt_tokens":10,"completion_tokens":2}}'],
])('the usage at the end of a stream as %s has it', (_, event) => {
  const usage = { promptTokens: 10, cachedTokens: undefined, completionTokens: 2 }
  expect(read('text/event-stream', [`data: {}\n\ndata: ${event}\n\ndata: [DONE]\n\n`])).toEqual(usage)
})

test('a last event that is longer than what is kept still tells its usage', () => {
  const text = 'x'.repeat(40_000)
  const event = `data: {"type":"response.completed","response":{"output":[{"text":"${text}"}],"usage":{"input_tokens":10,"input_tokens_details":{"cached_tokens":4},"output_tokens":2}}}`
  expect(read('text/event-stream', [event.slice(0, 30_000), event.slice(30_000), '\n\n'])).toEqual({
    promptTokens: 10,
    cachedTokens: 4,
    completionTokens: 2,
  })
})
