import type { EngineCore, OutputToken } from '../engine-core.ts'
import { type GenerateBody, isBatch, readGenerateBody } from './bodies.ts'
import { badRequest } from './engine-error.ts'
import { type Call, type Routes, sendJson } from './http-server.ts'
import type { PromptReader, ServedRequest } from './prompt-reader.ts'
import { toInputLogprobs } from './token-scores.ts'
import { endSse, startSse, writeSse } from './write-sse.ts'

/** SGLang's own `POST /generate`, for one prompt or many. Each streamed message repeats the text generated so far. */
export function createGenerateRoutes(engine: EngineCore, reader: PromptReader): Routes {
  return new Map([['POST /generate', (call: Call) => generate(engine, reader, call)]])
}

async function generate(engine: EngineCore, reader: PromptReader, call: Call): Promise<void> {
  const body = readGenerateBody(call.body)
  const maximum = body.sampling_params?.max_new_tokens
  // text takes precedence over token ids, as in SGLang
  const prompts = body.text ?? body.input_ids!
  const isList = isBatch(prompts)
  const requests = reader.requests(reader.requestId(call.headers, body), body, prompts, maximum)
  const scoresOf = (request: ServedRequest): object => toScores(reader, body, request)
  if (body.stream) return answerInMessages(engine, call, requests, { isList, scoresOf })
  const answers = await Promise.all(requests.map((request) => runToEnd(engine, call, request, scoresOf(request))))
  // a list with one prompt is answered with a list of one answer
  sendJson(call.response, isList ? answers : answers[0])
}

/** What is added to `meta_info` if log probabilities are asked for; the answer's own are all the same. */
function toScores(reader: PromptReader, body: GenerateBody, { prompt }: ServedRequest): object {
  if (!body.return_logprob) return {}
  const tokens = reader.score(body, prompt)
  if (!tokens) return {}
  const start = body.logprob_start_len ?? -1
  if (start > prompt.length) {
    const message = `req.logprob_start_len=${start} is higher than the number of input tokens len(req.origin_input_ids)=${prompt.length}. Please use a smaller logprob_start_len.`
    throw badRequest(message)
  }
  return { input_token_logprobs: start < 0 ? [] : toInputLogprobs(tokens, start) }
}

async function runToEnd(engine: EngineCore, { signal }: Call, request: ServedRequest, scores: object): Promise<object> {
  let last = {}
  for await (const message of messagesOf(engine, request, scores, signal)) last = message
  return last
}

async function answerInMessages(
  engine: EngineCore,
  { response, signal }: Call,
  requests: ServedRequest[],
  { isList, scoresOf }: { isList: boolean; scoresOf: (request: ServedRequest) => object },
): Promise<void> {
  await Promise.all(
    requests.map(async (request, index) => {
      for await (const message of messagesOf(engine, request, scoresOf(request), signal)) {
        if (!response.headersSent) startSse(response)
        await writeSse(response, isList ? { ...message, index } : message, signal)
      }
    }),
  )
  endSse(response)
}

async function* messagesOf(
  engine: EngineCore,
  request: ServedRequest,
  scores: object,
  signal: AbortSignal,
): AsyncGenerator<object, void, void> {
  let text = ''
  for await (const token of engine.generate(request, signal)) {
    text += token.text
    const isLast = token.index === request.outputTokens - 1
    yield { text, meta_info: { ...toMetaInfo(request, token, isLast && request.reason), ...scores } }
  }
}

function toMetaInfo(request: ServedRequest, token: OutputToken, finished: ServedRequest['reason'] | false): object {
  const reasons = { length: { type: 'length', length: request.outputTokens }, stop: { type: 'stop', matched: null } }
  return {
    id: request.requestId,
    finish_reason: finished ? reasons[finished] : null,
    prompt_tokens: request.prompt.length,
    completion_tokens: token.index + 1,
    cached_tokens: token.cachedTokens,
  }
}
