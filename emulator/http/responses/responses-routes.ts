import { randomUUID } from 'node:crypto'
import type { EngineCore } from '../../engine-core.ts'
import { collectOutput } from '../collect-output.ts'
import { EngineError } from '../engine-error.ts'
import { type Call, type Routes, sendJson } from '../http-server.ts'
import type { PromptReader, ServedRequest } from '../prompt-reader.ts'
import { startSse, writeSseEvent } from '../write-sse.ts'
import { type ResponsesBody, readResponsesBody } from './responses-body.ts'
import {
  closingEvents,
  openingEvents,
  type ResponseEvent,
  type ResponseHead,
  responseEvent,
  textEvent,
  toOutputItem,
  toResponse,
  toResponseUsage,
} from './responses-format.ts'
import { toResponsesChat } from './responses-prompt.ts'

/** OpenAI's `POST /v1/responses`, as the engines implement it without a store of responses. */
export function createResponsesRoutes(engine: EngineCore, reader: PromptReader): Routes {
  return new Map([
    [
      'POST /v1/responses',
      (call: Call) => {
        const body = readResponsesBody(call.body)
        const job = toJob(reader, body)
        return body.stream ? answerInEvents(engine, call, job) : answerAtOnce(engine, call, job)
      },
    ],
  ])
}

interface Job {
  head: ResponseHead
  itemId: string
  request: ServedRequest
  status: 'completed' | 'incomplete'
}

function toJob(reader: PromptReader, body: ResponsesBody): Job {
  const { previous_response_id: previous, max_output_tokens: maximum } = body
  if (previous != null) {
    const message = `Response with id '${previous}' not found.`
    throw new EngineError(404, 'invalid_request_error', message, 'response_id')
  }
  // neither engine reads X-Request-Id or `rid` here; vLLM numbers the turns of one response
  const id = body.request_id || `resp_${randomId()}`
  const prompt = reader.chat(toResponsesChat(body))
  const request = reader.request(reader.kind === 'vllm' ? `${id}_0` : id, body, prompt, maximum)
  return {
    head: {
      id,
      created: Math.floor(Date.now() / 1000),
      maximum: maximum ?? reader.modelTokens - prompt.length,
      body: { ...body, model: reader.model(body) },
    },
    itemId: `msg_${randomId()}`,
    request,
    status: request.reason === 'length' ? 'incomplete' : 'completed',
  }
}

async function answerAtOnce(engine: EngineCore, { response, signal }: Call, job: Job): Promise<void> {
  const { text, cachedTokens } = await collectOutput(engine.generate(job.request, signal))
  sendJson(response, toFinal(job, text, cachedTokens))
}

async function answerInEvents(engine: EngineCore, { response, signal }: Call, job: Job): Promise<void> {
  let number = 0
  const send = async (...events: ResponseEvent[]): Promise<void> => {
    for (const event of events) {
      await writeSseEvent(response, event.type, { ...event, sequence_number: number++ }, signal)
    }
  }
  startSse(response)
  const begun = toResponse(job.head, 'in_progress')
  // sent as soon as the request is accepted
  await send(responseEvent('response.created', begun), responseEvent('response.in_progress', begun))
  let text = ''
  let cachedTokens = 0
  for await (const token of engine.generate(job.request, signal)) {
    if (token.index === 0) await send(...openingEvents(job.itemId))
    cachedTokens = token.cachedTokens
    text += token.text
    await send(textEvent(job.itemId, token.text))
  }
  // the last event has this name even if the response is incomplete
  const completed = responseEvent('response.completed', toFinal(job, text, cachedTokens))
  await send(...closingEvents(job.itemId, text), completed)
  response.end()
}

function toFinal({ head, itemId, request, status }: Job, text: string, cachedTokens: number): object {
  const usage = toResponseUsage(request.prompt.length, request.outputTokens, cachedTokens)
  return toResponse(head, status, [toOutputItem(itemId, text)], usage)
}

function randomId(): string {
  return randomUUID().replaceAll('-', '')
}
