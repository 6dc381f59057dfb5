import type { EngineCore } from '../engine-core.ts'
import { collectOutput, type Output } from './answer-events.ts'
import { type OpenAiBody, readChatBody, readCompletionBody } from './bodies.ts'
import { badRequest } from './engine-error.ts'
import { type Call, type Routes, sendJson } from './http-server.ts'
import { chatFormat, completionFormat, type OpenAiFormat } from './openai-format.ts'
import type { PromptReader, ServedRequest } from './prompt-reader.ts'
import { toCompletionLogprobs, toPromptLogprobs } from './token-scores.ts'
import { endSse, startSse, writeSse } from './write-sse.ts'

/** `POST /v1/chat/completions` and `POST /v1/completions`. */
export function createOpenAiRoutes(engine: EngineCore, reader: PromptReader): Routes {
  return new Map([
    [
      'POST /v1/chat/completions',
      (call: Call) => {
        const body = readChatBody(call.body)
        const toRequests = (name: string, maximum: Maximum): ServedRequest[] => [
          reader.request(name, body, reader.chat(body), maximum),
        ]
        return answer(engine, call, toJob(reader, chatFormat, call, body, toRequests))
      },
    ],
    [
      'POST /v1/completions',
      (call: Call) => {
        const body = readCompletionBody(call.body)
        const toRequests = (name: string, maximum: Maximum): ServedRequest[] =>
          reader.requests(name, body, body.prompt, maximum)
        const job = toJob(reader, completionFormat, call, body, toRequests)
        const { logprobs: likeliest, return_tokens_as_token_ids: asIds } = body
        if (likeliest == null) return answer(engine, call, job)
        const logprobs = ({ prompt }: ServedRequest): object | null => {
          const tokens = reader.alternatives(body, prompt, Math.max(1, likeliest))
          return tokens ? toCompletionLogprobs(tokens, asIds ?? false) : null
        }
        return answer(engine, call, { ...job, logprobs })
      },
    ],
  ])
}

interface Job {
  format: OpenAiFormat
  /** Members that every message of the answer starts with. */
  head: { id: string; created: number; model: string }
  /** One per prompt. */
  requests: ServedRequest[]
  /** Choices per prompt; all are identical and computed once. */
  copies: number
  stream: boolean
  /** how likely the prompt's tokens were; undefined: not asked, or nobody reads */
  scores: ((request: ServedRequest) => (object | null)[] | undefined) | undefined
  /** how likely the first token of an answer was, and others */
  logprobs?: (request: ServedRequest) => object | null
  includeUsage: boolean
  /** vLLM sends a stream's headers when it has accepted the request, SGLang with the first token. */
  earlyHeaders: boolean
}

type Maximum = number | null | undefined

function toJob(
  reader: PromptReader,
  format: OpenAiFormat,
  call: Call,
  body: OpenAiBody,
  toRequests: (name: string, maximum: Maximum) => ServedRequest[],
): Job {
  const name = reader.requestId(call.headers, body)
  const maximum = body.max_completion_tokens ?? body.max_tokens
  const created = Math.floor(Date.now() / 1000)
  const { prompt_logprobs: scored, stream } = body
  if (stream && scored != null && scored !== 0)
    throw badRequest('`prompt_logprobs` are not available when `stream=True`.', 'prompt_logprobs')
  const requests = toRequests(name, maximum)
  // SGLang names its answer after the first prompt
  const id = reader.kind === 'vllm' ? format.idPrefix + name : requests[0]!.requestId
  return {
    format,
    head: { id, created, model: reader.model(body) },
    requests,
    copies: body.n ?? 1,
    stream: stream ?? false,
    scores: scored == null || reader.kind === 'sglang' ? undefined : ({ prompt }) => scoresOf(reader, body, prompt),
    includeUsage: body.stream_options?.include_usage ?? false,
    earlyHeaders: reader.kind === 'vllm',
  }
}

function scoresOf(reader: PromptReader, body: OpenAiBody, prompt: Uint32Array): (object | null)[] | undefined {
  const tokens = reader.score(body, prompt)
  return tokens && toPromptLogprobs(tokens)
}

function answer(engine: EngineCore, call: Call, job: Job): Promise<void> {
  return job.stream ? answerInChunks(engine, call, job) : answerAtOnce(engine, call, job)
}

async function answerAtOnce(engine: EngineCore, { response, signal }: Call, job: Job): Promise<void> {
  const outputs = await Promise.all(job.requests.map((request) => collectOutput(engine.generate(request, signal))))
  const choices = outputs.flatMap(({ text }, prompt) => {
    const request = job.requests[prompt]!
    const more = { ...job.format.scoredChoice(job.scores?.(request)), ...withLogprobs(job, request) }
    return choiceIndexes(job, prompt).map((index) => ({ ...job.format.choice(index, text, request.reason), ...more }))
  })
  const scored = job.format.scoredAnswer(job.requests.length === 1 ? job.scores?.(job.requests[0]!) : undefined)
  sendJson(response, { ...job.head, object: job.format.object, choices, usage: usageOf(job, outputs), ...scored })
}

function withLogprobs({ logprobs }: Job, request: ServedRequest): object {
  return logprobs ? { logprobs: logprobs(request) } : {}
}

async function answerInChunks(engine: EngineCore, { response, signal }: Call, job: Job): Promise<void> {
  const { format, head } = job
  const send = (choices: object[], more: { usage?: object } = {}): Promise<void> =>
    writeSse(response, { ...head, object: format.chunkObject, choices, ...more }, signal)

  const streamPrompt = async (request: ServedRequest, prompt: number): Promise<CountedPrompt> => {
    let counted: CountedPrompt = { cachedTokens: 0, reusedTokens: undefined }
    const indexes = choiceIndexes(job, prompt)
    for await (const token of engine.generate(request, signal)) {
      counted = token
      const reason = token.index === request.outputTokens - 1 ? request.reason : null
      for (const index of indexes) {
        const opening = token.index === 0 && format.opening(index)
        if (opening) await send([opening])
        await send([format.piece(index, token.text, reason)])
      }
    }
    return counted
  }

  startSse(response)
  if (job.earlyHeaders) response.flushHeaders()
  const counted = await Promise.all(job.requests.map(streamPrompt))
  if (job.includeUsage) await send([], { usage: usageOf(job, counted) })
  endSse(response)
}

function choiceIndexes({ copies }: Job, prompt: number): number[] {
  return Array.from({ length: copies }, (_, copy) => prompt * copies + copy)
}

type CountedPrompt = Omit<Output, 'text'>

function usageOf({ requests, copies }: Job, counted: readonly CountedPrompt[]): object {
  const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)
  const promptTokens = sum(requests.map((request) => request.prompt.length))
  const completionTokens = sum(requests.map((request) => request.outputTokens)) * copies
  const reused = sum(counted.map(({ reusedTokens = 0 }) => reusedTokens))
  const recomputed = sum(counted.map(({ recomputedTokens = 0 }) => recomputedTokens))
  return {
    prompt_tokens: promptTokens,
    total_tokens: promptTokens + completionTokens,
    completion_tokens: completionTokens,
    prompt_tokens_details: {
      cached_tokens: sum(counted.map(({ cachedTokens }) => cachedTokens)),
      // the engine does not report zero
      ...(reused > 0 ? { reused_tokens: reused } : {}),
      ...(recomputed > 0 ? { recomputed_tokens: recomputed } : {}),
    },
  }
}
