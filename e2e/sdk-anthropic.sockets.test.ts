import { createHash } from 'node:crypto'
import Anthropic, { AuthenticationError, BadRequestError, RateLimitError } from '@anthropic-ai/sdk'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { RunningProxy } from '#proxy/start/main.ts'
import { keysIn } from './keys-file.ts'
import { documentRequest, metricOf } from './placed-blocks.ts'
import { type Overrides, startTestProxy } from './start-test-proxy.ts'

const model = 'reprise-emulator'
const answer = 'This is canned text'

let proxy: RunningProxy
let client: Anthropic

async function restart(config: Overrides = {}, apiKey = 'sk-anything'): Promise<void> {
  await proxy?.close()
  proxy = await startTestProxy(undefined, config)
  client = new Anthropic({ baseURL: proxy.url, apiKey, maxRetries: 0 })
}

beforeEach(() => restart())
afterEach(() => proxy.close())

/** Returns the text of a user's question with the named documents. */
function ragText(question: string, names: string): string {
  const { messages } = documentRequest(question, names) as { messages: { content: string }[] }
  return messages[1]!.content
}

function asking(content: string): Anthropic.MessageCreateParamsNonStreaming {
  return { model, max_tokens: 4, system: 'Answer from the documents.', messages: [{ role: 'user', content }] }
}

describe('the Anthropic SDK', () => {
  test('creates a message', async () => {
    const { data, response, request_id } = await client.messages.create(asking(ragText('one', 'abc'))).withResponse()
    expect(data.content).toEqual([{ type: 'text', text: answer }])
    expect(data).toMatchObject({ role: 'assistant', stop_reason: 'max_tokens' })
    expect(data.usage).toMatchObject({ output_tokens: 4, cache_read_input_tokens: 0 })
    expect(response.headers.get('x-reprise-blocks')).toBe('3')
    // Anthropic uses another header name
    expect(request_id).toBeNull()
    expect(response.headers.get('x-request-id')).toMatch(/./)
  })

  test('streams a message, with its helper and without', async () => {
    const body = asking(ragText('one', 'abc'))
    const texts: string[] = []
    const helper = client.messages.stream(body).on('text', (text) => texts.push(text))
    const message = await helper.finalMessage()
    expect(texts).toEqual(['This', ' is', ' canned', ' text'])
    expect(message.content).toEqual([{ type: 'text', text: answer }])
    expect(message).toMatchObject({ stop_reason: 'max_tokens', usage: { output_tokens: 4 } })
    const types: string[] = []
    for await (const { type } of await client.messages.create({ ...body, stream: true })) types.push(type)
    expect(types[0]).toBe('message_start')
    expect(types.at(-1)).toBe('message_stop')
  })

  test('counts tokens', async () => {
    const { model: _, max_tokens: __, ...counted } = asking(ragText('one', 'abc'))
    const { input_tokens } = await client.messages.countTokens({ model, ...counted })
    const { usage } = await client.messages.create({ model, max_tokens: 4, ...counted })
    expect(usage.input_tokens + usage.cache_read_input_tokens!).toBe(input_tokens)
  })

  test('holds a conversation in which no document is sent twice', async () => {
    const messages: Anthropic.MessageParam[] = []
    const turns: { blocks: string | null; deduplicated: string | null; cached: number }[] = []
    for (const [question, names] of [
      ['one', 'abc'],
      ['two', 'cad'],
      ['three', 'dbe'],
    ] as const) {
      messages.push({ role: 'user', content: [{ type: 'text', text: ragText(question, names) }] })
      const { data, response } = await client.messages.create({ model, max_tokens: 9, messages }).withResponse()
      messages.push({ role: 'assistant', content: data.content })
      turns.push({
        blocks: response.headers.get('x-reprise-blocks'),
        deduplicated: response.headers.get('x-reprise-deduplicated'),
        cached: data.usage.cache_read_input_tokens!,
      })
    }
    expect(turns).toMatchObject([
      { blocks: '3', deduplicated: '0', cached: 0 },
      { blocks: '6', deduplicated: '2' },
      { blocks: '9', deduplicated: '4' },
    ])
    expect(turns[1]!.cached).toBeGreaterThan(300)
    expect(turns[2]!.cached).toBeGreaterThan(turns[1]!.cached + 90)
  })

  test('stops the engine when a stream is aborted', async () => {
    // the emulator computes 20,000 tokens per second, so the client leaves in the middle of the prefill
    const stream = client.messages.stream(asking(`${'Read all of this. '.repeat(10_000)}\n\nSo?`))
    stream.on('connect', () => stream.abort())
    await expect(stream.finalMessage()).rejects.toThrow('aborted')
    const aborts = 'reprise_stream_aborts_total{phase="mid_stream"}'
    await vi.waitFor(async () => expect(await metricOf(proxy.adminUrl, aborts)).toBe(1))
    // the aborted prompt is not cached, and the next request is answered
    expect((await client.messages.create(asking('Hi'))).content).toHaveLength(1)
  })
})

describe('errors', () => {
  const ask = (body: object = {}): Promise<unknown> => client.messages.create({ ...asking('Hi'), ...body })

  /** Returns the error that a call fails with. */
  const errorOf = (call: Promise<unknown>): Promise<unknown> =>
    call.then(
      () => undefined,
      (error: unknown) => error,
    )

  test('of a request that cannot be read are BadRequestErrors', async () => {
    const error = await errorOf(ask({ reprise: { blocks: 'none' } }))
    expect(error).toBeInstanceOf(BadRequestError)
    const message = "'reprise/blocks' must be array."
    expect(error).toMatchObject({
      status: 400,
      type: 'invalid_request_error',
      error: { type: 'error', error: { type: 'invalid_request_error', code: 'invalid_body', message } },
    })
    expect((error as Error).message).toContain(message)
  })

  test('of the engine are what the engine said', async () => {
    const error = await errorOf(ask({ max_tokens: 1_000_000, stream: true }))
    expect(error).toBeInstanceOf(BadRequestError)
    expect(error).toMatchObject({ error: { type: 'error', error: { type: 'BadRequestError' } } })
  })

  test('of a body that is too large have their own type', async () => {
    await restart({ limits: { body_bytes: 50 } })
    expect(await errorOf(ask())).toMatchObject({ status: 413, error: { error: { type: 'request_too_large' } } })
  })

  test('of a wrong key are AuthenticationErrors, and of one that is used up RateLimitErrors', async () => {
    const sha256 = createHash('sha256').update('sk-good').digest('hex')
    const keys = keysIn({ tenant: 't', sha256, requests_per_minute: 1 })
    await restart({ keys }, 'sk-bad')
    const refused = await errorOf(ask())
    expect(refused).toBeInstanceOf(AuthenticationError)
    expect(refused).toMatchObject({ status: 401, error: { error: { type: 'authentication_error' } } })
    client = new Anthropic({ baseURL: proxy.url, apiKey: 'sk-good', maxRetries: 0 })
    await ask()
    const limited = await errorOf(ask())
    expect(limited).toBeInstanceOf(RateLimitError)
    expect(limited).toMatchObject({ status: 429, error: { error: { type: 'rate_limit_error', code: 'rate_limited' } } })
  })
})
