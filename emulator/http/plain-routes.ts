import type { EngineCore } from '../engine-core.ts'
import { readTokenizeBody } from './bodies.ts'
import { badRequest } from './engine-error.ts'
import { type Call, type Routes, sendJson } from './http-server.ts'
import { modelName, type PromptReader } from './prompt-reader.ts'

/** What an engine reports about its prefix cache. */
export interface CacheSize {
  pageTokens: number
  /** may be Infinity, which is not reported */
  capacityTokens: number
}

/** Routes that generate nothing: health, models, tokenising, and the cache's size and clearing. */
export function createPlainRoutes(engine: EngineCore, reader: PromptReader, cache: CacheSize): Routes {
  const created = Math.floor(Date.now() / 1000)
  const models = reader.models.map((id) => ({
    id,
    object: 'model',
    created,
    owned_by: 'reprise',
    max_model_len: reader.modelTokens,
  }))
  return new Map([
    ['GET /health', ({ response }: Call) => sendJson(response)],
    ['GET /version', ({ response }) => sendJson(response, { version: modelName })],
    ['GET /v1/models', ({ response }) => sendJson(response, { object: 'list', data: models })],
    ['POST /tokenize', (call) => tokenize(reader, call)],
    ...(reader.kind === 'vllm' ? vllmRoutes(engine, cache) : sglangRoutes(engine, cache)),
  ])
}

function vllmRoutes(engine: EngineCore, { pageTokens, capacityTokens }: CacheSize): Routes {
  // vLLM also counts a block that is kept empty
  const pages = capacityTokens / pageTokens + 1
  const [blocks, tokens] = Number.isFinite(pages) ? [pages, pages * pageTokens] : ['None', 'None']
  const labels = `block_size="${pageTokens}",enable_prefix_caching="True",kv_cache_size_tokens="${tokens}",num_gpu_blocks="${blocks}"`
  const metrics = `# TYPE vllm:cache_config_info gauge\nvllm:cache_config_info{${labels}} 1.0\n`
  return new Map([
    [
      'GET /metrics',
      ({ response }: Call) => {
        response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4' }).end(metrics)
      },
    ],
    ['POST /reset_prefix_cache', ({ response }) => sendJson(response, { success: engine.clearCache() })],
  ])
}

function sglangRoutes(engine: EngineCore, { pageTokens, capacityTokens }: CacheSize): Routes {
  const info = {
    version: modelName,
    page_size: pageTokens,
    ...(Number.isFinite(capacityTokens) ? { max_total_num_tokens: capacityTokens } : {}),
    disable_radix_cache: false,
    enable_cache_report: true,
  }
  const flush = ({ response }: Call): void => {
    if (!engine.clearCache()) throw badRequest('Flush cache failed: there are running requests.')
    response.writeHead(200, { 'content-type': 'text/plain' }).end('Cache flushed.\n')
  }
  return new Map([
    ['GET /server_info', ({ response }: Call) => sendJson(response, info)],
    ['GET /get_server_info', ({ response }) => sendJson(response, info)],
    ['POST /flush_cache', flush],
    ['GET /flush_cache', flush],
  ])
}

function tokenize(reader: PromptReader, { body: given, response }: Call): void {
  const body = readTokenizeBody(given)
  const tokens = [...('prompt' in body ? reader.plain(body.prompt) : reader.chat(body))]
  // only vLLM is asked for them
  const texts = body.return_token_strs ? { token_strs: reader.texts(tokens) } : {}
  sendJson(response, { count: tokens.length, max_model_len: reader.modelTokens, tokens, ...texts })
}
