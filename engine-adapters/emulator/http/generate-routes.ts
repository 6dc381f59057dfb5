import type { EngineCore, EngineRequest, OutputToken } from '../engine-core.ts'
import { type Call, type Routes, sendJson } from './http-server.ts'
import type { PromptReader } from './prompt-reader.ts'
import { isBatch, readGenerateBody } from './request-body.ts'
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
  const reason = maximum ? 'length' : 'stop'
  if (body.stream) return answerInMessages(engine, call, requests, { isList, reason })
  const answers = await Promise.all(requests.map((request) => runToEnd(engine, call, request, reason)))
  // a list with one prompt is answered with a list of one answer
  sendJson(call.response, isList ? answers : answers[0])
}

async function runToEnd(engine: EngineCore, { signal }: Call, request: EngineRequest, reason: Reason): Promise<object> {
  let last = {}
  for await (const message of messagesOf(engine, request, reason, signal)) last = message
  return last
}

async function answerInMessages(
  engine: EngineCore,
  { response, signal }: Call,
  requests: EngineRequest[],
  { isList, reason }: { isList: boolean; reason: Reason },
): Promise<void> {
  await Promise.all(
    requests.map(async (request, index) => {
      for await (const message of messagesOf(engine, request, reason, signal)) {
        if (!response.headersSent) startSse(response)
        await writeSse(response, isList ? { ...message, index } : message, signal)
      }
    }),
  )
  endSse(response)
}

async function* messagesOf(
  engine: EngineCore,
  request: EngineRequest,
  reason: Reason,
  signal: AbortSignal,
): AsyncGenerator<object, void, void> {
  let text = ''
  for await (const token of engine.generate(request, signal)) {
    text += token.text
    const isLast = token.index === request.outputTokens - 1
    yield { text, meta_info: toMetaInfo(request, token, isLast && reason) }
  }
}

type Reason = 'length' | 'stop'

function toMetaInfo(request: EngineRequest, token: OutputToken, finished: Reason | false): object {
  const reasons = { length: { type: 'length', length: request.outputTokens }, stop: { type: 'stop', matched: null } }
  return {
    id: request.requestId,
    finish_reason: finished ? reasons[finished] : null,
    prompt_tokens: request.prompt.length,
    completion_tokens: token.index + 1,
    cached_tokens: token.cachedTokens,
  }
}
