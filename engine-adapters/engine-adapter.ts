import type { RequestId } from '#index/context-block.ts'
import type { CacheConfig } from './cache-config.ts'
import type { PromptApi } from './prompt-api.ts'

/** What kind of engine stands behind a URL: how requests are tagged, and what may be added to them. */
export const engineKinds = ['vllm', 'sglang', 'openai'] as const
export type EngineKind = (typeof engineKinds)[number]

/** What a request is tagged with, so that the engine's reports can be tied to it and tenants share no cache. */
export interface RequestTags {
  readonly headers: Readonly<Record<string, string>>
  /** members of the body to set */
  readonly members: Readonly<Record<string, string>>
}

/** Members of a request's body. */
export type BodyMembers = Readonly<Record<string, unknown>>

/** The prompts of one request. */
export interface SentPrompts {
  readonly count: number
  /** an API took them as a list, be it of one */
  readonly isList: boolean
  /** the member `rid` of the body */
  readonly rid?: unknown
}

/** A request to the engine whose answer tells the tokens of a prompt. */
export interface TokenQuestion {
  readonly path: string
  readonly body: BodyMembers
}

/** A page on which an engine tells of its cache. */
export interface CacheSource {
  readonly path: string
  readonly read: (text: string) => CacheConfig | undefined
}

/** All that depends on the kind of engine. */
export interface EngineAdapter {
  readonly kind: EngineKind
  /** whether `cached_tokens` of an answer to several prompts are those of all of them */
  readonly countsCachedOfAll: boolean
  /** whether a prefix is evicted as a whole node, not page by page */
  readonly evictsInWhole: boolean
  /** whether its cache can be followed by KV events, and tokens of prompts be asked for */
  readonly publishesEvents: boolean
  /** whether its plugin can reuse KV at any position, and tells how */
  readonly canReuseAnywhere: boolean
  /** the member that hands a wish to its plugin of page selection, on these APIs; undefined: there is none */
  pagesMember(api: PromptApi): string | undefined
  /** the APIs on which `cache_salt` keeps tenants apart */
  readonly salts: readonly PromptApi[]
  /** where it tells of its cache, the newer place first; none: it does not */
  readonly cacheSources: readonly CacheSource[]
  /** `members`: those that the body has, of which none is taken away */
  tagRequest(request: RequestId, cacheSalt: string, members?: BodyMembers): RequestTags
  /** Whether a request to this path asks for inference, or about it; all else controls the engine or tells of others. */
  isInference(path: string): boolean
  /** Whether the engine looks into its cache for a request with these members. */
  readsCache(members: BodyMembers): boolean
  /** The id that a body gives its request in the engine's own way; undefined: none. */
  idIn(members: BodyMembers): string | undefined
  /** What the engine's reports call the prompts of one request. */
  promptIds(request: RequestId, prompts: SentPrompts): RequestId[]
  /**
   * What the engine's reports call the first prompt of a request that it answers under an id of its own; undefined where
   * they keep the id it was given.
   */
  reportedName(api: PromptApi, answerId: string): RequestId | undefined
  /** The ways to ask for the tokens of a request's prompts, the surest first; none: it has no answer to it. */
  tokenQuestions(api: PromptApi, path: string, members: BodyMembers): TokenQuestion[]
}
