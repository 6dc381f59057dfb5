import type { EngineCore, EngineRequest } from '../../engine-core.ts'
import { collectOutput } from '../collect-output.ts'
import { type Call, type Routes, sendJson } from '../http-server.ts'
import { defaultOutputTokens, type PromptReader } from '../prompt-reader.ts'
import { startSse, writeSseEvent } from '../write-sse.ts'
import { type MessagesBody, readCountTokensBody, readMessagesBody } from './messages-body.ts'
import {
  closingEvents,
  type MessageEvent,
  type MessageHead,
  openingEvents,
  type StopReason,
  textEvent,
  toMessage,
  toMessageUsage,
} from './messages-format.ts'
import { toMessagesChat } from './messages-prompt.ts'

/** Anthropic's `POST /v1/messages` and `POST /v1/messages/count_tokens`, as both engines implement them. */
export function createMessagesRoutes(engine: EngineCore, reader: PromptReader): Routes {
  return new Map([
    [
      'POST /v1/messages',
      (call: Call) => {
        const body = readMessagesBody(call.body)
        const job = toJob(reader, call, body)
        return body.stream ? answerInEvents(engine, call, job) : answerAtOnce(engine, call, job)
      },
    ],
    ['POST /v1/messages/count_tokens', (call: Call) => countTokens(reader, call)],
  ])
}

interface Job {
  head: MessageHead
  request: EngineRequest
  reason: StopReason
  /** vLLM sends a stream's headers when it has accepted the request, SGLang with the first token. */
  earlyHeaders: boolean
}

function toJob(reader: PromptReader, { headers }: Call, body: MessagesBody): Job {
  const isVllm = reader.kind === 'vllm'
  const name = reader.requestId(isVllm ? headers : {}, {})
  const prompt = reader.chat(toMessagesChat(reader.kind, body))
  // SGLang converts it to a chat request and drops the members it does not know: `rid` and `cache_salt`
  const request = reader.request(name, isVllm ? body : { model: body.model ?? null }, prompt, body.max_tokens)
  // every request has a limit in this API, even if a short answer is expected
  const outputTokens = request.text ? request.outputTokens : Math.min(request.outputTokens, defaultOutputTokens)
  const isCut = request.text ? request.reason === 'length' : outputTokens === body.max_tokens
  return {
    head: { id: isVllm ? `chatcmpl-${name}` : `msg_${name}`, model: reader.model(body) },
    request: { ...request, outputTokens },
    reason: isCut ? 'max_tokens' : 'end_turn',
    earlyHeaders: isVllm,
  }
}

async function answerAtOnce(engine: EngineCore, { response, signal }: Call, job: Job): Promise<void> {
  const { text, cachedTokens } = await collectOutput(engine.generate(job.request, signal))
  const { prompt, outputTokens } = job.request
  sendJson(response, toMessage(job.head, text, job.reason, toMessageUsage(prompt.length, outputTokens, cachedTokens)))
}

async function answerInEvents(engine: EngineCore, { response, signal }: Call, job: Job): Promise<void> {
  const { prompt, outputTokens } = job.request
  const send = async (events: MessageEvent[]): Promise<void> => {
    for (const event of events) await writeSseEvent(response, event.type, event, signal)
  }
  startSse(response)
  if (job.earlyHeaders) response.flushHeaders()
  let cachedTokens = 0
  for await (const token of engine.generate(job.request, signal)) {
    cachedTokens = token.cachedTokens
    if (token.index === 0) await send(openingEvents(job.head, prompt.length))
    await send([textEvent(token.text)])
  }
  await send(closingEvents(job.reason, toMessageUsage(prompt.length, outputTokens, cachedTokens)))
  response.end()
}

function countTokens(reader: PromptReader, { body, response }: Call): void {
  const tokens = reader.chat(toMessagesChat(reader.kind, readCountTokensBody(body))).length
  const more = reader.kind === 'vllm' ? { context_management: { original_input_tokens: tokens } } : {}
  sendJson(response, { input_tokens: tokens, ...more })
}
