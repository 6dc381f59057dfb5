import type { EngineCore } from '../engine-core.ts'
import { badRequest } from './engine-error.ts'
import { type Call, type Routes, sendJson } from './http-server.ts'
import { modelName } from './openai-format.ts'
import type { PromptReader } from './prompt-reader.ts'
import { readTokenizeBody } from './request-body.ts'

/** What is neither a completion nor a generation: health, models, tokens, and the emptying of the cache. */
export function createPlainRoutes(engine: EngineCore, reader: PromptReader): Routes {
  const created = Math.floor(Date.now() / 1000)
  const model = { id: modelName, object: 'model', created, owned_by: 'reprise', max_model_len: reader.modelTokens }
  return new Map([
    ['GET /health', ({ response }: Call) => sendJson(response)],
    ['GET /version', ({ response }) => sendJson(response, { version: modelName })],
    ['GET /v1/models', ({ response }) => sendJson(response, { object: 'list', data: [model] })],
    ['POST /tokenize', (call) => tokenize(reader, call)],
    ...(reader.kind === 'vllm' ? vllmRoutes(engine) : sglangRoutes(engine)),
  ])
}

function vllmRoutes(engine: EngineCore): Routes {
  return new Map([
    ['POST /reset_prefix_cache', ({ response }: Call) => sendJson(response, { success: engine.clearCache() })],
  ])
}

function sglangRoutes(engine: EngineCore): Routes {
  const flush = ({ response }: Call): void => {
    if (!engine.clearCache()) throw badRequest('Flush cache failed: there are running requests.')
    response.writeHead(200, { 'content-type': 'text/plain' }).end('Cache flushed.\n')
  }
  return new Map([
    ['POST /flush_cache', flush],
    ['GET /flush_cache', flush],
  ])
}

function tokenize(reader: PromptReader, { body: given, response }: Call): void {
  const body = readTokenizeBody(given)
  const tokens = [...('prompt' in body ? reader.plain(body.prompt) : reader.chat(body))]
  sendJson(response, { count: tokens.length, max_model_len: reader.modelTokens, tokens })
}
