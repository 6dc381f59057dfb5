import { askEngine, type EngineText } from './ask-engine.ts'
import { type CacheSize, toCacheSize } from './cache-config.ts'
import type { EngineAdapter } from './engine-adapter.ts'
import type { EngineClient } from './engine-client.ts'

/** Asks an engine for its cache's page size and capacity; undefined if it does not say. Never rejects. */
export async function askCacheSize(
  engine: Pick<EngineClient, 'send'>,
  { cacheSources }: EngineAdapter,
  { apiKey, signal }: { readonly apiKey?: string | undefined; readonly signal: AbortSignal },
): Promise<CacheSize | undefined> {
  const headers = apiKey === undefined ? [] : ['authorization', `Bearer ${apiKey}`]
  for (const { path, read } of cacheSources) {
    const answer = await askEngine(engine, { path, headers }, signal)
    const size = isGood(answer) ? toCacheSize(read(answer.text)) : undefined
    if (size) return size
  }
  return undefined
}

function isGood(answer: EngineText | undefined): answer is EngineText {
  return answer?.status === 200
}
