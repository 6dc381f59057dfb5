import { createParser } from 'eventsource-parser'
import type { Agent } from 'undici'
import type { ChatMessage } from './compared-requests.ts'

/** What an engine answered, and what that took. */
export interface Answer {
  readonly answer: string
  readonly promptTokens: number
  /** undefined: the engine does not say */
  readonly cachedTokens: number | undefined
  /** mean log-probability of the answer's tokens; undefined: the engine does not return them */
  readonly logProbability: number | undefined
  readonly firstTokenMilliseconds: number
  /** blocks that were moved or pointed to */
  readonly changed: number
}

/** One request, and how its answer is to be made. */
export interface SentChat {
  readonly model: string
  readonly messages: readonly ChatMessage[]
  readonly maxTokens: number
  /** separates the engine's cache from that of other passes; undefined: the engine would not take it */
  readonly cacheSalt: string | undefined
  readonly hasLogProbabilities: boolean
  readonly authorization: string | undefined
  readonly signal: AbortSignal
}

interface Chunk {
  readonly error?: { readonly message?: string }
  readonly choices?: readonly {
    readonly delta?: { readonly content?: string | null }
    readonly logprobs?: { readonly content?: readonly { readonly logprob: number }[] | null } | null
  }[]
  readonly usage?: {
    readonly prompt_tokens: number
    readonly prompt_tokens_details?: { readonly cached_tokens?: number | null } | null
  } | null
}

/** Sends a chat at temperature 0 and reads the streamed answer. Throws if the answer is incomplete. */
export async function sendChat(agent: Agent, baseUrl: string, chat: SentChat): Promise<Answer> {
  const began = performance.now()
  const { origin, pathname } = new URL(baseUrl)
  const { statusCode, headers, body } = await agent.request({
    origin,
    path: `${pathname.replace(/\/+$/, '').replace(/\/v1$/, '')}/v1/chat/completions`,
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(chat.authorization === undefined ? {} : { authorization: chat.authorization }),
    },
    body: JSON.stringify(toBody(chat)),
    signal: chat.signal,
  })
  if (statusCode !== 200) throw new Error(`status ${statusCode}: ${(await body.text()).slice(0, 300)}`)
  const count = (name: string): number => Number(headers[name] ?? 0)
  const changed = count('x-reprise-moved') + count('x-reprise-deduplicated')
  return { ...(await readAnswer(body, began)), changed }
}

function toBody({ model, messages, maxTokens, cacheSalt, hasLogProbabilities }: SentChat): object {
  return {
    model,
    messages,
    max_tokens: maxTokens,
    temperature: 0,
    stream: true,
    stream_options: { include_usage: true },
    ...(hasLogProbabilities ? { logprobs: true } : {}),
    ...(cacheSalt === undefined ? {} : { cache_salt: cacheSalt }),
  }
}

async function readAnswer(body: AsyncIterable<Buffer>, began: number): Promise<Omit<Answer, 'changed'>> {
  const read = { answer: '', usage: undefined as Chunk['usage'], first: undefined as number | undefined, isDone: false }
  const logProbabilities: number[] = []
  const take = ({ error, choices, usage }: Chunk): void => {
    if (error) throw new Error(`the answer ended in an error: ${error.message ?? 'unknown'}`)
    const text = choices?.[0]?.delta?.content ?? ''
    if (text !== '') read.first ??= performance.now() - began
    read.answer += text
    for (const { logprob } of choices?.[0]?.logprobs?.content ?? []) logProbabilities.push(logprob)
    read.usage = usage ?? read.usage
  }
  const parser = createParser({
    onEvent: ({ data }) => {
      if (data === '[DONE]') read.isDone = true
      else take(JSON.parse(data) as Chunk)
    },
  })
  const decoder = new TextDecoder()
  for await (const bytes of body) parser.feed(decoder.decode(bytes, { stream: true }))
  if (!read.isDone || !read.usage) throw new Error('the answer broke off before its end, or has no usage')
  const sum = logProbabilities.reduce((total, value) => total + value, 0)
  return {
    answer: read.answer,
    promptTokens: read.usage.prompt_tokens,
    cachedTokens: read.usage.prompt_tokens_details?.cached_tokens ?? undefined,
    logProbability: logProbabilities.length > 0 ? sum / logProbabilities.length : undefined,
    firstTokenMilliseconds: read.first ?? performance.now() - began,
  }
}
