import type { ReadToken } from '../reader/reader.ts'
import type { Answer, Output } from './answer.ts'
import { type Body, readChatBody, readCompletionBody } from './bodies.ts'
import { badRequest } from './engine-error.ts'
import type { Call } from './http-server.ts'
import type { PromptReader, ServedRequest } from './prompt-reader.ts'

/** How answers of chat and text completions differ. */
const chat = {
  idPrefix: 'chatcmpl-',
  object: 'chat.completion',
  chunkObject: 'chat.completion.chunk',
  choice: (content: string): object => ({ message: { role: 'assistant', content } }),
  /** the parts of a choice before any text */
  opening: [{ delta: { role: 'assistant', content: '' } }],
  piece: (content: string): object => ({ delta: { content } }),
  /** whether the log probabilities of the prompt's tokens are in each choice, not in the answer */
  scoresChoices: false,
}
const completion: typeof chat = {
  idPrefix: 'cmpl-',
  object: 'text_completion',
  chunkObject: 'text_completion',
  choice: (text) => ({ text }),
  opening: [],
  piece: (text) => ({ text }),
  scoresChoices: true,
}

/** `POST /v1/chat/completions`. */
export function answerChat(reader: PromptReader, call: Call): Answer {
  const body = readChatBody(call.body)
  return toAnswer(reader, call, {
    format: chat,
    body,
    toRequests: (name, maximum) => [reader.request(name, body, reader.chat(body), maximum)],
    logprobs: () => null,
  })
}

/** `POST /v1/completions`. */
export function answerCompletion(reader: PromptReader, call: Call): Answer {
  const body = readCompletionBody(call.body)
  const { logprobs: likeliest, return_tokens_as_token_ids: asIds } = body
  return toAnswer(reader, call, {
    format: completion,
    body,
    toRequests: (name, maximum) => reader.requests(name, body, body.prompt, maximum),
    logprobs: (prompt) => {
      const tokens = likeliest == null ? undefined : reader.alternatives(body, prompt, Math.max(1, likeliest))
      return tokens ? toLogprobs(tokens, asIds ?? false) : null
    },
  })
}

interface OpenAiCall {
  readonly format: typeof chat
  readonly body: Body
  /** one for each prompt */
  readonly toRequests: (name: string, maximum: number | null | undefined) => readonly ServedRequest[]
  /** how likely the first token of an answer was, and others; null: not asked, or nobody reads */
  readonly logprobs: (prompt: Uint32Array) => object | null
}

function toAnswer(reader: PromptReader, call: Call, { format, body, toRequests, logprobs }: OpenAiCall): Answer {
  const { prompt_logprobs: scored, stream } = body
  const name = reader.requestId(call.headers, body)
  if (stream && scored != null && scored !== 0)
    throw badRequest('`prompt_logprobs` are not available when `stream=True`.', 'prompt_logprobs')
  const requests = toRequests(name, body.max_completion_tokens ?? body.max_tokens)
  const isVllm = reader.kind === 'vllm'
  const head = {
    // SGLang names its answer after the first prompt
    id: isVllm ? format.idPrefix + name : requests[0]!.requestId,
    created: Math.floor(Date.now() / 1000),
    model: reader.model(body),
  }
  // choices of one prompt are identical and computed once
  const copies = body.n ?? 1
  const indexes = (prompt: number): number[] => Array.from({ length: copies }, (_, copy) => prompt * copies + copy)
  const chunk = (choices: readonly object[]): object => ({ ...head, object: format.chunkObject, choices })
  const scores = ({ prompt }: ServedRequest): object => {
    const tokens = scored == null || !isVllm ? undefined : reader.score(body, prompt)
    return tokens ? { prompt_logprobs: toPromptLogprobs(tokens) } : {}
  }
  return {
    requests,
    isStream: stream ?? false,
    earlyHeaders: isVllm,
    pieces: (text, { index: at }, prompt) => {
      const { outputTokens, reason } = requests[prompt]!
      const last = { logprobs: null, finish_reason: at === outputTokens - 1 ? reason : null }
      return indexes(prompt).flatMap((index) => [
        ...(at > 0
          ? []
          : format.opening.map((part) => chunk([{ index, ...part, logprobs: null, finish_reason: null }]))),
        chunk([{ index, ...format.piece(text), ...last }]),
      ])
    },
    closing: (outputs) => {
      const isCounted = body.stream_options?.include_usage ?? false
      return isCounted ? [{ ...chunk([]), usage: usageOf(requests, copies, outputs) }] : []
    },
    whole: (outputs) => {
      const choices = outputs.flatMap(({ text }, at) => {
        const request = requests[at]!
        const more = { logprobs: logprobs(request.prompt), finish_reason: request.reason }
        const scored = format.scoresChoices ? scores(request) : {}
        return indexes(at).map((index) => ({ index, ...format.choice(text), ...more, ...scored }))
      })
      const usage = usageOf(requests, copies, outputs)
      return { ...head, object: format.object, choices, usage, ...(format.scoresChoices ? {} : scores(requests[0]!)) }
    },
  }
}

/** vLLM's `prompt_logprobs`: nothing for the first token. */
function toPromptLogprobs(tokens: readonly ReadToken[]): (object | null)[] {
  return tokens.map(({ id, text, logprob }, i) =>
    i === 0 ? null : { [id]: { logprob, rank: logprob > -1 ? 1 : 2, decoded_token: text } },
  )
}

/** A completion's `logprobs` of its first token, the likeliest first. */
function toLogprobs(tokens: readonly ReadToken[], asIds: boolean): object {
  const nameOf = ({ id, text }: ReadToken): string => (asIds ? `token_id:${id}` : text)
  const first = tokens.slice(0, 1)
  return {
    text_offset: first.map(() => 0),
    token_logprobs: first.map(({ logprob }) => logprob),
    tokens: first.map(nameOf),
    top_logprobs: first.map(() => Object.fromEntries(tokens.map((token) => [nameOf(token), token.logprob]))),
  }
}

function usageOf(requests: readonly ServedRequest[], copies: number, outputs: readonly Output[]): object {
  const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)
  const promptTokens = sum(requests.map(({ prompt }) => prompt.length))
  const completionTokens = sum(requests.map(({ outputTokens }) => outputTokens)) * copies
  const reused = sum(outputs.map(({ reusedTokens = 0 }) => reusedTokens))
  const recomputed = sum(outputs.map(({ recomputedTokens = 0 }) => recomputedTokens))
  return {
    prompt_tokens: promptTokens,
    total_tokens: promptTokens + completionTokens,
    completion_tokens: completionTokens,
    prompt_tokens_details: {
      cached_tokens: sum(outputs.map(({ cachedTokens }) => cachedTokens)),
      // the engine does not report zero
      ...(reused > 0 ? { reused_tokens: reused } : {}),
      ...(recomputed > 0 ? { recomputed_tokens: recomputed } : {}),
    },
  }
}
