import { createParser } from 'eventsource-parser'
import type { Dispatcher } from 'undici'
import { UsageReader } from '#engine-adapters/read-usage.ts'
import { ConfigError } from '#proxy/common/errors.ts'
import type { EngineConnection } from '../engine-connection.ts'
import { readRetryAfter, untilNotBusy } from '../until-not-busy.ts'

/** The body of a request to `/v1/chat/completions`. */
export type ChatBody = Readonly<Record<string, unknown>>

interface ChatSettings {
  readonly model: string
  readonly maxTokens: number
  /** separates the engine's cache from that of other passes; undefined: the engine would not accept it */
  readonly cacheSalt: string | undefined
  readonly hasLogProbabilities: boolean
}

/** What an engine answered, and what that took. */
export interface Answer {
  /** text, or the calls of tools: their names and arguments */
  readonly answer: string
  /** undefined: the engine does not say */
  readonly promptTokens: number | undefined
  /** undefined: the engine does not say */
  readonly cachedTokens: number | undefined
  /** mean log-probability of the answer's tokens; undefined: the engine does not return them */
  readonly logProbability: number | undefined
  readonly firstTokenMilliseconds: number
  /** blocks that were moved or replaced by pointers */
  readonly changed: number
  /** set if the engine refused log-probabilities and answered without them */
  readonly refusedLogProbabilities?: true
}

/** One request. */
export interface SentChat {
  /** names the request in messages */
  readonly name: string
  /** from `toChatBody` */
  readonly body: ChatBody
  readonly headers: Readonly<Record<string, string>>
  /** Waits before the request is repeated. Rejects if the comparison is ended. */
  readonly wait: (milliseconds: number) => Promise<void>
}

// half a second, doubled each time: half a minute in all, enough for a queue to shrink or an engine to restart
const mostAttempts = 7
/** Quotas may ask for hours, and nobody should wait that long without knowing. */
const longestWait = 120_000

/** Statuses with which engines and gateways refuse a member of a body. */
const memberRefused = [400, 403, 422, 501]

/**
 * Sends a chat and reads the streamed answer, without log-probabilities if the engine refuses them. Repeats the
 * request up to six times while the engine is busy. Throws if there is no complete answer, and says what to do.
 */
export async function sendChat(engine: EngineConnection, chat: SentChat): Promise<Answer> {
  const reply = await ask(engine, chat, chat.body)
  if (reply.status === 200) return readAnswer(reply, chat.name)
  const refusal = await explain(chat.name, reply)
  const { logprobs, ...body } = chat.body
  if (logprobs === true && memberRefused.includes(reply.status)) {
    const without = await ask(engine, chat, body)
    if (without.status === 200) return { ...(await readAnswer(without, chat.name)), refusedLogProbabilities: true }
    await without.body.dump()
  }
  throw new ConfigError(refusal)
}

/** The last of the replies to a request that may have been sent several times. */
interface ChatReply extends Pick<Dispatcher.ResponseData, 'headers' | 'body'> {
  readonly status: number
  /** when it was requested */
  readonly began: number
  readonly attempts: number
}

async function ask(engine: EngineConnection, { headers, wait }: SentChat, body: ChatBody): Promise<ChatReply> {
  const send = async () => {
    const began = performance.now()
    const reply = await engine.send('/v1/chat/completions', body, headers)
    return { status: reply.statusCode, headers: reply.headers, body: reply.body, began }
  }
  const { answer, attempts } = await untilNotBusy(send, isBusy, { mostAttempts, longestWait, wait })
  return { ...answer, attempts }
}

// engines refuse these together with the members set below: a minimum length, and what cannot be streamed
const inTheWay = ['max_tokens', 'max_completion_tokens', 'min_tokens', 'logprobs', 'top_logprobs', 'prompt_logprobs']

/**
 * Returns a body whose answer can be compared: a single answer, at temperature 0, streamed with its usage. Also sets the
 * model, the maximum length, log-probabilities and the salt; a salt that the body already has keeps its effect.
 * Everything else stays as it is.
 */
export function toChatBody(
  body: ChatBody,
  { model, maxTokens, cacheSalt, hasLogProbabilities }: ChatSettings,
): ChatBody {
  const kept = Object.entries(body).filter(([name]) => !inTheWay.includes(name))
  // newer models refuse `max_tokens`, older engines do not know the other: keep the one that the body has
  const longest = typeof body.max_completion_tokens === 'number' ? 'max_completion_tokens' : 'max_tokens'
  return {
    ...Object.fromEntries(kept),
    model,
    [longest]: maxTokens,
    temperature: 0,
    n: 1,
    stream: true,
    stream_options: { include_usage: true },
    ...(hasLogProbabilities ? { logprobs: true } : {}),
    ...(cacheSalt === undefined
      ? {}
      : { cache_salt: [cacheSalt, body.cache_salt].filter((salt) => typeof salt === 'string').join('-') }),
  }
}

/** Whether the same request may be answered later. */
function isBusy(status: number): boolean {
  return status === 429 || (status >= 502 && status <= 504)
}

async function explain(name: string, { status, headers, body, attempts }: ChatReply): Promise<string> {
  const text = (await body.text()).replaceAll(/\s+/g, ' ').slice(0, 300)
  const what = `The engine refuses ${name} (status ${status}: ${text})`
  if (status === 401 || status === 403) return `${what}: set REPRISE_ENGINE_API_KEY to a key that may send it.`
  if (status === 404) return `${what}: mend --engine, or name a model that it serves with --model.`
  if (isBusy(status)) {
    const retryAfter = readRetryAfter(headers['retry-after'], Date.now())
    const times = attempts === 1 ? '' : ` in ${attempts} attempts`
    const wish = retryAfter === undefined ? '' : `, and asks to wait for ${Math.ceil(retryAfter / 1_000)} s`
    return `${what}${times}${wish}: the same command goes on from here.`
  }
  if (status >= 500) return `${what}: the same command goes on from here.`
  return `${what}: mend this request in the trace, or leave it out; --top-k makes prompts shorter.`
}

interface Delta {
  readonly content?: string | null
  readonly tool_calls?:
    | readonly {
        readonly function?: { readonly name?: string | null; readonly arguments?: string | null } | null
      }[]
    | null
}

interface Chunk {
  readonly error?: { readonly message?: string }
  readonly choices?: readonly {
    readonly delta?: Delta
    readonly logprobs?: { readonly content?: readonly { readonly logprob: number }[] | null } | null
  }[]
}

/** Reads a streamed answer. Throws if there is none, or it is incomplete. */
async function readAnswer({ headers, body, began }: ChatReply, name: string): Promise<Answer> {
  const type = String(headers['content-type'] ?? 'none')
  if (!type.startsWith('text/event-stream')) {
    await body.dump()
    throw new ConfigError(
      `The engine answered ${name} without a stream of events (content-type: ${type}): ` +
        'compare needs an engine that streams chats ("stream": true), at the URL of --engine.',
    )
  }
  const read = { answer: '', first: undefined as number | undefined, isDone: false }
  const logProbabilities: number[] = []
  const take = ({ error, choices }: Chunk): void => {
    if (error) throw new Error(`the answer ended in an error: ${error.message ?? 'unknown'}`)
    const text = textOf(choices?.[0]?.delta)
    if (text !== '') read.first ??= performance.now() - began
    read.answer += text
    for (const { logprob } of choices?.[0]?.logprobs?.content ?? []) logProbabilities.push(logprob)
  }
  const parser = createParser({
    onEvent: ({ data }) => {
      if (data === '[DONE]') read.isDone = true
      else take(JSON.parse(data) as Chunk)
    },
  })
  const decoder = new TextDecoder()
  const reader = new UsageReader('text/event-stream')
  for await (const bytes of body as AsyncIterable<Buffer>) {
    reader.push(bytes)
    parser.feed(decoder.decode(bytes, { stream: true }))
  }
  if (!read.isDone) throw new Error('the answer broke off before its end')
  const sum = logProbabilities.reduce((total, value) => total + value, 0)
  const usage = reader.read()
  return {
    answer: read.answer,
    promptTokens: usage?.promptTokens,
    cachedTokens: usage?.cachedTokens,
    logProbability: logProbabilities.length > 0 ? sum / logProbabilities.length : undefined,
    firstTokenMilliseconds: read.first ?? performance.now() - began,
    changed: Number(headers['x-reprise-moved'] ?? 0) + Number(headers['x-reprise-deduplicated'] ?? 0),
  }
}

function textOf(delta: Delta | undefined): string {
  const calls = (delta?.tool_calls ?? []).map(
    ({ function: called }) => `${called?.name ?? ''}${called?.arguments ?? ''}`,
  )
  return [delta?.content ?? '', ...calls].join('')
}
