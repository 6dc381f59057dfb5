import type { EngineCore, EngineRequest, OutputToken } from '../engine-core.ts'
import { type Call, type Routes, sendJson } from './http-server.ts'
import type { PromptReader } from './prompt-reader.ts'
import { readGenerateBody } from './request-body.ts'
import { endSse, startSse, writeSse } from './write-sse.ts'

/** SGLang's own `POST /generate`, for one prompt; each streamed message repeats the text so far. */
export function createGenerateRoutes(engine: EngineCore, reader: PromptReader): Routes {
  return new Map([['POST /generate', (call: Call) => generate(engine, reader, call)]])
}

async function generate(
  engine: EngineCore,
  reader: PromptReader,
  { headers, body: given, response, signal }: Call,
): Promise<void> {
  const body = readGenerateBody(given)
  const maximum = body.sampling_params?.max_new_tokens
  const id = reader.requestId(headers, body)
  const request = reader.requests(id, body, [reader.plain(body.text ?? body.input_ids ?? '')], maximum)[0]!
  let text = ''
  for await (const token of engine.generate(request, signal)) {
    text += token.text
    const last = token.index === request.outputTokens - 1
    const message = { text, meta_info: toMetaInfo(id, request, token, last && (maximum ? 'length' : 'stop')) }
    if (body.stream) {
      if (token.index === 0) startSse(response)
      await writeSse(response, message, signal)
      if (last) endSse(response)
    } else if (last) {
      sendJson(response, message)
    }
  }
}

function toMetaInfo(
  id: string,
  request: EngineRequest,
  token: OutputToken,
  finished: 'length' | 'stop' | false,
): object {
  const reasons = { length: { type: 'length', length: request.outputTokens }, stop: { type: 'stop', matched: null } }
  return {
    id,
    finish_reason: finished ? reasons[finished] : null,
    prompt_tokens: request.prompt.length,
    completion_tokens: token.index + 1,
    cached_tokens: token.cachedTokens,
  }
}
