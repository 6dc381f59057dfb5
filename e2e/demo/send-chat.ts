import { createParser } from 'eventsource-parser'
import type { Dispatcher } from 'undici'
import type { ChatMessage } from './prompt.ts'

export interface ChatRequest {
  readonly model: string
  readonly messages: readonly ChatMessage[]
  readonly maxTokens: number
  readonly apiKey: string | undefined
  /** Aborts the request. */
  readonly interrupted: AbortSignal
}

/** What the proxy's response headers report; absent if the engine is asked directly. */
export interface ProxyReport {
  readonly blocks: number
  readonly moved: number
  readonly deduplicated: number
  readonly skipped: string | undefined
}

/** One answered request, as its client saw it. */
export interface ChatOutcome {
  readonly answer: string
  readonly firstTokenMs: number
  readonly totalMs: number
  /** Prompt and cached tokens, as the engine reported them in its usage. */
  readonly promptTokens: number
  readonly cachedTokens: number
  /** Tokens reused at another position without being computed again. */
  readonly reusedTokens: number
  readonly proxy: ProxyReport | undefined
}

interface Chunk {
  readonly error?: { readonly message?: string }
  readonly choices?: readonly { readonly delta?: { readonly content?: string | null } }[]
  readonly usage?: {
    readonly prompt_tokens: number
    readonly prompt_tokens_details?: { readonly cached_tokens?: number; readonly reused_tokens?: number } | null
  } | null
}

/** Sends one streaming chat request and measures it. Throws if there is no complete, measurable answer. */
export async function sendChat(dispatcher: Dispatcher, baseUrl: string, request: ChatRequest): Promise<ChatOutcome> {
  const start = performance.now()
  const { origin, pathname } = new URL(baseUrl)
  const response = await dispatcher.request({
    origin,
    path: `${pathname.replace(/\/$/, '')}/v1/chat/completions`,
    method: 'POST',
    headers: toHeaders(request),
    body: JSON.stringify(toBody(request)),
    signal: request.interrupted,
  })
  if (response.statusCode !== 200) {
    throw new Error(`status ${response.statusCode}: ${(await response.body.text()).slice(0, 300)}`)
  }
  const stream = await readStream(response.body, start)
  return { ...stream, totalMs: performance.now() - start, proxy: readProxyReport(response.headers) }
}

function toBody({ model, messages, maxTokens }: ChatRequest): object {
  return {
    model,
    messages,
    stream: true,
    stream_options: { include_usage: true },
    max_tokens: maxTokens,
    temperature: 0,
  }
}

function toHeaders({ apiKey }: ChatRequest): Record<string, string> {
  const json = { 'content-type': 'application/json', accept: 'text/event-stream' }
  return apiKey === undefined ? json : { ...json, authorization: `Bearer ${apiKey}` }
}

async function readStream(body: AsyncIterable<Buffer>, start: number): Promise<Omit<ChatOutcome, 'totalMs' | 'proxy'>> {
  let answer = ''
  let firstTokenMs: number | undefined
  let usage: Chunk['usage']
  let done = false
  const read = (chunk: Chunk): void => {
    if (chunk.error) throw new Error(`the stream ended in an error: ${chunk.error.message ?? 'unknown'}`)
    const text = chunk.choices?.[0]?.delta?.content ?? ''
    if (text !== '') firstTokenMs ??= performance.now() - start
    answer += text
    usage = chunk.usage ?? usage
  }
  const parser = createParser({
    onEvent: ({ data }) => {
      if (data === '[DONE]') done = true
      else read(JSON.parse(data) as Chunk)
    },
  })
  const decoder = new TextDecoder()
  for await (const bytes of body) parser.feed(decoder.decode(bytes, { stream: true }))
  if (!done) throw new Error('the stream broke off before its end')
  if (firstTokenMs === undefined) throw new Error('the answer is empty')
  const cachedTokens = usage?.prompt_tokens_details?.cached_tokens
  if (!usage || cachedTokens === undefined) throw new Error('the engine reported no cached_tokens in its usage')
  const reusedTokens = usage.prompt_tokens_details?.reused_tokens ?? 0
  return { answer, firstTokenMs, promptTokens: usage.prompt_tokens, cachedTokens, reusedTokens }
}

function readProxyReport(headers: Record<string, string | string[] | undefined>): ProxyReport | undefined {
  const blocks = headers['x-reprise-blocks']
  if (blocks === undefined) return undefined
  return {
    blocks: Number(blocks),
    moved: Number(headers['x-reprise-moved'] ?? 0),
    deduplicated: Number(headers['x-reprise-deduplicated'] ?? 0),
    skipped: headers['x-reprise-skipped']?.toString(),
  }
}
