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

test('numbers that no request can have are not known', () => {
  for (const wrong of ['1e308', '-5', '0.5', '"7"', 'null']) {
    expect(read('application/json', [usage(10, 4).replace('10', wrong)])?.promptTokens).toBeUndefined()
    expect(read('application/json', [usage(10, 4).replace(':4', `:${wrong}`)])).toMatchObject({
      promptTokens: 10,
      cachedTokens: undefined,
    })
  }
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

test('what only the first event tells of the prompt is kept through a long stream, and what the last adds', () => {
  const start =
    'event: message_start\ndata: {"type":"message_start","message":{"usage":{"input_tokens":6,"output_tokens":0,"cache_read_input_tokens":4}}}\n\n'
  const text = `event: content_block_delta\ndata: {"delta":{"text":"${'x'.repeat(500)}"}}\n\n`
  const end = 'event: message_delta\ndata: {"type":"message_delta","usage":{"output_tokens":2}}\n\n'
  const stream = Buffer.from(start + text.repeat(200) + end)
  fc.assert(
    fc.property(fc.integer({ min: 100, max: 9_000 }), (size) => {
      const count = Math.ceil(stream.length / size)
      const chunks = Array.from({ length: count }, (_, i) => stream.subarray(i * size, (i + 1) * size))
      expect(read('text/event-stream', chunks)).toEqual({ promptTokens: 10, cachedTokens: 4, completionTokens: 2 })
    }),
    { numRuns: 30 },
  )
})

test('a stream that is nothing but an error is a refusal; one that fails in the middle is none', () => {
  const isRefusal = (...events: string[]): boolean => {
    const reader = new UsageReader('text/event-stream')
    reader.push(Buffer.from(events.map((event) => `data: ${event}\n\n`).join('')))
    return reader.isRefusal
  }
  const error = '{"error":{"message":"too long","code":400}}'
  expect(isRefusal(error, '[DONE]')).toBe(true)
  expect(isRefusal('{"choices":[]}', error)).toBe(false)
  expect(isRefusal('[DONE]')).toBe(false)
  expect(isRefusal()).toBe(false)
})

test('what was reused at another position, of answers and streams, stands beside what is exact', () => {
  const details = '"prompt_tokens_details":{"cached_tokens":4,"reused_tokens":3}'
  const answer = `{"usage":{"prompt_tokens":10,"completion_tokens":2,${details}}}`
  const expected = { promptTokens: 10, cachedTokens: 4, reusedTokens: 3, completionTokens: 2 }
  expect(read('application/json', [answer])).toEqual(expected)
  expect(read('text/event-stream', [`data: {}\n\ndata: ${answer}\n\ndata: [DONE]\n\n`])).toEqual(expected)
  expect(read('application/json', [answer.replace('3', 'null')])?.reusedTokens).toBeUndefined()
  const sglangs = '"cached_tokens":4,"cached_tokens_details":{"device":4,"host":0,"reused_tokens":3}'
  const generated = `{"text":"x","meta_info":{"prompt_tokens":10,"completion_tokens":2,${sglangs}}}`
  expect(read('application/json', [generated])).toEqual(expected)
})

test('pages that were read, of answers, streams and the cut end of a long stream, stand beside what is cached', () => {
  const pages = '"listed_pages":30,"all_pages":90,"page_choices":4,"page_backtracks":1'
  const usage = `"usage":{"prompt_tokens":10,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":4,${pages}}}`
  const expected = { listed: 30, all: 90, choices: 4, backtracks: 1 }
  expect(read('application/json', [`{${usage}}`])?.pages).toEqual(expected)
  expect(read('text/event-stream', [`data: {}\n\ndata: {${usage}}\n\ndata: [DONE]\n\n`])?.pages).toEqual(expected)
  const long = `data: {"response":{"text":"${'x'.repeat(40_000)}",${usage}}}\n\n`
  expect(read('text/event-stream', [long.slice(0, 20_000), long.slice(20_000)])?.pages).toEqual(expected)
  expect(read('application/json', [`{${usage.replace('30', '91')}}`])?.pages).toBeUndefined()
})
