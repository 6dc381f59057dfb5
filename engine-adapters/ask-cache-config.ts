import { askEngine, type EngineText } from './ask-engine.ts'
import {
  type CacheConfig,
  type CacheSize,
  readSglangCacheConfig,
  readVllmCacheConfig,
  toCacheSize,
} from './cache-config.ts'
import type { EngineKind } from './engine-adapter.ts'
import type { EngineClient } from './engine-client.ts'

interface Source {
  readonly path: string
  read(text: string): CacheConfig | undefined
}

/** Where each kind of engine tells of its cache, the newer place first. */
const sources: Record<EngineKind, readonly Source[]> = {
  vllm: [{ path: '/metrics', read: readVllmCacheConfig }],
  // SGLang 0.5.23 warns in its log of the second, versions before 0.5.4 have no other
  sglang: ['/server_info', '/get_server_info'].map((path) => ({ path, read: readSglangText })),
  openai: [],
}

/** Asks an engine how large its cache's pages are and what it holds; undefined when it does not say. Never rejects. */
export async function askCacheSize(
  engine: Pick<EngineClient, 'send'>,
  kind: EngineKind,
  { apiKey, signal }: { readonly apiKey?: string | undefined; readonly signal: AbortSignal },
): Promise<CacheSize | undefined> {
  const headers = apiKey === undefined ? [] : ['authorization', `Bearer ${apiKey}`]
  for (const { path, read } of sources[kind]) {
    const answer = await askEngine(engine, { path, headers }, signal)
    const size = isGood(answer) ? toCacheSize(read(answer.text)) : undefined
    if (size) return size
  }
  return undefined
}

function isGood(answer: EngineText | undefined): answer is EngineText {
  return answer?.status === 200
}

function readSglangText(text: string): CacheConfig | undefined {
  try {
    return readSglangCacheConfig(JSON.parse(text))
  } catch {
    // what is no JSON says nothing of a cache
    return undefined
  }
}
