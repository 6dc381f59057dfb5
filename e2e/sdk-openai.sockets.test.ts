import { createHash } from 'node:crypto'
import OpenAI, { APIUserAbortError, AuthenticationError, BadRequestError, RateLimitError } from 'openai'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { RunningProxy } from '#proxy/start/main.ts'
import { keysIn } from './keys-file.ts'
import { documentRequest, metricOf } from './placed-blocks.ts'
import { type Overrides, startTestProxy } from './start-test-proxy.ts'

type Message = OpenAI.ChatCompletionMessageParam

const model = 'reprise-emulator'
const answer = 'This is canned text'

let proxy: RunningProxy
let client: OpenAI

async function restart(config: Overrides = {}, apiKey = 'sk-anything'): Promise<void> {
  await proxy?.close()
  proxy = await startTestProxy(undefined, config)
  client = new OpenAI({ baseURL: `${proxy.url}/v1`, apiKey, maxRetries: 0 })
}

beforeEach(() => restart())
afterEach(() => proxy.close())

/** Returns a user's question with the named documents. */
function ragMessage(question: string, names: string): Message {
  const { messages } = documentRequest(question, names) as { messages: Message[] }
  return messages[1]!
}

describe('the OpenAI SDK', () => {
  test('completes a chat', async () => {
    const { data, response, request_id } = await client.chat.completions
      .create({ model, max_tokens: 4, messages: [ragMessage('one', 'abc')] })
      .withResponse()
    expect(data.choices[0]?.message).toMatchObject({ role: 'assistant', content: answer })
    expect(data.usage).toMatchObject({ completion_tokens: 4, prompt_tokens_details: { cached_tokens: 0 } })
    expect(response.headers.get('x-reprise-blocks')).toBe('3')
    expect(request_id).toMatch(/./)
    expect(data.id).toBe(`chatcmpl-${request_id}`)
  })

  test('streams a chat, with usage', async () => {
    const messages = [ragMessage('one', 'abc')]
    const stream = await client.chat.completions.create({
      model,
      messages,
      max_tokens: 4,
      stream: true,
      stream_options: { include_usage: true },
    })
    const pieces: string[] = []
    let usage: OpenAI.CompletionUsage | null | undefined
    for await (const chunk of stream) {
      pieces.push(chunk.choices[0]?.delta.content ?? '')
      usage = chunk.usage
    }
    expect(pieces.filter((piece) => piece)).toEqual(['This', ' is', ' canned', ' text'])
    expect(usage?.completion_tokens).toBe(4)
    const runner = client.chat.completions.stream({ model, messages, max_tokens: 4 })
    expect(await runner.finalContent()).toBe(answer)
  })

  test('completes a text', async () => {
    const completion = await client.completions.create({ model, prompt: ['a', 'b'], max_tokens: 4 })
    expect(completion.choices.map(({ text }) => text)).toEqual([answer, answer])
    const stream = await client.completions.create({ model, prompt: 'a', max_tokens: 4, stream: true })
    let text = ''
    for await (const chunk of stream) text += chunk.choices[0]?.text ?? ''
    expect(text).toBe(answer)
  })

  test('creates a response, whole and in a stream', async () => {
    const input = ragMessage('one', 'abc').content as string
    const body = { model, input, instructions: 'Answer from the documents.', max_output_tokens: 4 }
    const { data, response } = await client.responses.create(body).withResponse()
    expect(response.headers.get('x-reprise-blocks')).toBe('3')
    expect(data.output_text).toBe(answer)
    const deltas: string[] = []
    const stream = client.responses.stream(body).on('response.output_text.delta', ({ delta }) => deltas.push(delta))
    const final = await stream.finalResponse()
    expect(deltas).toEqual(['This', ' is', ' canned', ' text'])
    expect(final.output_text).toBe(answer)
    expect(final.usage?.input_tokens_details.cached_tokens).toBeGreaterThan(300)
  })

  test('lists models', async () => {
    const ids: string[] = []
    for await (const { id } of client.models.list()) ids.push(id)
    expect(ids).toEqual([model])
  })

  test('holds a conversation in which no document is sent twice', async () => {
    const messages: Message[] = []
    const turns: [blocks: string | null, deduplicated: string | null, cached: number][] = []
    for (const [question, names] of [
      ['one', 'abc'],
      ['two', 'cad'],
      ['three', 'dbe'],
    ] as const) {
      messages.push(ragMessage(question, names))
      const { data, response } = await client.chat.completions.create({ model, messages, max_tokens: 9 }).withResponse()
      messages.push(data.choices[0]!.message)
      const header = (name: string): string | null => response.headers.get(`x-reprise-${name}`)
      turns.push([header('blocks'), header('deduplicated'), data.usage!.prompt_tokens_details!.cached_tokens!])
    }
    expect(turns.map(([blocks, deduplicated]) => [blocks, deduplicated])).toEqual([
      ['3', '0'],
      ['6', '2'],
      ['9', '4'],
    ])
    // earlier turns were sent again unchanged
    expect(turns[0]![2]).toBe(0)
    expect(turns[1]![2]).toBeGreaterThan(300)
    expect(turns[2]![2]).toBeGreaterThan(turns[1]![2] + 90)
  })

  test('stops the engine when a stream is aborted', async () => {
    const stream = await client.chat.completions.create({
      model,
      messages: [{ role: 'user', content: 'Hi' }],
      max_tokens: 10_000,
      stream: true,
    })
    let chunks = 0
    for await (const _chunk of stream) if (++chunks === 5) stream.controller.abort()
    // a slow reader may get more chunks at once
    expect(chunks).toBeGreaterThanOrEqual(5)
    expect(chunks).toBeLessThan(10_000)
    const aborts = 'reprise_stream_aborts_total{phase="mid_stream"}'
    await vi.waitFor(async () => expect(await metricOf(proxy.adminUrl, aborts)).toBe(1))
    const leaving = new AbortController()
    const request = client.chat.completions.create(
      { model, messages: [{ role: 'user', content: 'Hi' }], max_tokens: 10_000 },
      { signal: leaving.signal },
    )
    setTimeout(() => leaving.abort(), 50)
    await expect(request).rejects.toBeInstanceOf(APIUserAbortError)
  })
})

describe('errors', () => {
  const ask = (body: object = {}): Promise<unknown> =>
    client.chat.completions.create({ model, max_tokens: 1, messages: [{ role: 'user', content: 'Hi' }], ...body })

  /** Returns the error that a call fails with. */
  const errorOf = (call: Promise<unknown>): Promise<unknown> =>
    call.then(
      () => undefined,
      (error: unknown) => error,
    )

  test('of a request that cannot be read are BadRequestErrors', async () => {
    const error = await errorOf(ask({ reprise: { blocks: 'none' } }))
    expect(error).toBeInstanceOf(BadRequestError)
    expect(error).toMatchObject({ status: 400, code: 'invalid_body', type: 'invalid_request_error', param: null })
    expect((error as Error).message).toBe("400 'reprise/blocks' must be array.")
  })

  test('of the engine are what the engine said', async () => {
    const error = await errorOf(ask({ n: 0 }))
    expect(error).toBeInstanceOf(BadRequestError)
    expect(error).toMatchObject({ code: 400, type: 'Bad Request' })
  })

  test('of a body that is too large have their own status', async () => {
    await restart({ limits: { body_bytes: 50 } })
    const error = await errorOf(ask())
    expect(error).toBeInstanceOf(OpenAI.APIError)
    expect(error).toMatchObject({ status: 413, code: 'body_too_large' })
  })

  test('of a wrong key are AuthenticationErrors, and of one that is used up RateLimitErrors', async () => {
    const sha256 = createHash('sha256').update('sk-good').digest('hex')
    const keys = keysIn({ tenant: 't', sha256, requests_per_minute: 1 })
    await restart({ keys }, 'sk-bad')
    const refused = await errorOf(ask())
    expect(refused).toBeInstanceOf(AuthenticationError)
    expect(refused).toMatchObject({ status: 401, code: 'unauthorized' })
    client = new OpenAI({ baseURL: `${proxy.url}/v1`, apiKey: 'sk-good', maxRetries: 0 })
    await ask()
    const limited = await errorOf(ask())
    expect(limited).toBeInstanceOf(RateLimitError)
    expect(limited).toMatchObject({ status: 429, code: 'rate_limited' })
    expect(Number((limited as RateLimitError).headers.get('retry-after'))).toBeGreaterThan(0)
  })
})
