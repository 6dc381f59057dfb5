import type { RequestId } from '#index/context-block.ts'
import { isInferencePath } from './inference-paths.ts'

/** What kind of engine stands behind a URL: how requests are tagged, and what may be added to them. */
export const engineKinds = ['vllm', 'sglang', 'openai'] as const
export type EngineKind = (typeof engineKinds)[number]

/** What a request is tagged with, so that the engine's reports can be tied to it and tenants share no cache. */
export interface RequestTags {
  readonly headers: Readonly<Record<string, string>>
  /** members of the body to set */
  readonly members: Readonly<Record<string, string>>
}

/** The dialect of one kind of engine. */
export interface EngineAdapter {
  readonly kind: EngineKind
  /** whether `cached_tokens` of an answer to several prompts are those of all of them */
  readonly countsCachedOfAll: boolean
  /** `members`: those that the body has, of which none is taken away */
  tagRequest(request: RequestId, cacheSalt: string, members?: Readonly<Record<string, unknown>>): RequestTags
  /** Whether a request to this path asks for inference, or about it; all else controls the engine or tells of others. */
  isInference(path: string): boolean
  /** Whether the engine looks into its cache for a request with these members. */
  readsCache(members: Readonly<Record<string, unknown>>): boolean
}

const adapters: Record<EngineKind, EngineAdapter> = {
  // vLLM 0.32 takes the header for its request id (`chatcmpl-<id>`), and a salt for the first page's hash; of several
  // prompts it tells what was cached of the last one, streamed of that which answered first
  vllm: {
    kind: 'vllm',
    countsCachedOfAll: false,
    isInference: (path) => isInferencePath('vllm', path),
    // the probabilities of a prompt's tokens are no part of the cache: vLLM computes the prompt anew, and stores it
    readsCache: ({ prompt_logprobs, echo, logprobs }) => (prompt_logprobs ?? (echo === true ? logprobs : null)) == null,
    tagRequest: (request, cacheSalt) => ({ headers: { 'x-request-id': request }, members: { cache_salt: cacheSalt } }),
  },
  // SGLang 0.5 does not read the header; `rid` in the body reaches its cache
  sglang: {
    kind: 'sglang',
    countsCachedOfAll: true,
    isInference: (path) => isInferencePath('sglang', path),
    readsCache: () => true,
    tagRequest: (request, cacheSalt, { rid } = {}) => ({
      headers: { 'x-request-id': request },
      // a name for each prompt
      members: { ...(Array.isArray(rid) ? {} : { rid: request }), cache_salt: cacheSalt },
    }),
  },
  openai: {
    kind: 'openai',
    countsCachedOfAll: true,
    isInference: (path) => isInferencePath('openai', path),
    readsCache: () => true,
    tagRequest: (request) => ({ headers: { 'x-request-id': request }, members: {} }),
  },
}

/** The adapter for a kind of engine. */
export function adapterFor(kind: EngineKind): EngineAdapter {
  return adapters[kind]
}
