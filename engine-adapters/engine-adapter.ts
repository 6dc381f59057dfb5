import type { RequestId } from '#index/context-block.ts'
import type { CacheSource } from './cache-config.ts'
import type { BodyMembers, PromptApi, TokenQuestion } from './prompt-api.ts'
import type { ScoreAnswer } from './scoring/scored-prompt.ts'

/** The kind of engine at a URL decides how requests are tagged and what may be added to them. */
export const engineKinds = ['vllm', 'sglang', 'openai'] as const
export type EngineKind = (typeof engineKinds)[number]

/** Tags for a request, so that the engine's reports can be matched to it and tenants share no cache. */
export interface RequestTags {
  readonly headers: Readonly<Record<string, string>>
  /** members of the body to set */
  readonly members: Readonly<Record<string, string>>
}

interface SentPrompts {
  readonly count: number
  /** whether the API took them as a list, even a list of one */
  readonly isList: boolean
  /** the member `rid` of the body */
  readonly rid?: unknown
}

/** How `reprise doctor` names an engine, and the start-up flags that it tells the operator to change. */
interface EngineAdvice {
  readonly name: string
  /** makes the engine report cached tokens in `usage` */
  readonly reportCachedTokens: string
  readonly switchOnCache: string
  /** flags that load our plugin; undefined: there is none */
  readonly pluginFlags: string | undefined
  /** gives each data-parallel rank a URL of its own */
  readonly separateRanks: string
}

/** Everything that depends on the kind of engine. */
export interface EngineAdapter {
  readonly kind: EngineKind
  /** whether `cached_tokens` of an answer to several prompts is the sum over all of them */
  readonly countsCachedOfAll: boolean
  /** whether a prefix is evicted as a whole node, not page by page */
  readonly evictsInWhole: boolean
  /** tokens of a page of its cache, unless it says otherwise */
  readonly usualPageTokens: number
  /** whether `usage` omits a count of 0 cached tokens, although the engine reports cached tokens */
  readonly omitsZeroCached: boolean
  readonly advice: EngineAdvice
  /** whether its cache can be followed through KV events, and it answers questions for the tokens of prompts */
  readonly publishesEvents: boolean
  /** whether its plugin can reuse KV at any position, and reports how */
  readonly canReuseAnywhere: boolean
  /** the member that passes a wish to its reuse plugin on this API; undefined: there is none */
  reuseMember(api: PromptApi): string | undefined
  /** the member that passes a wish to its page selection plugin on this API; undefined: there is none */
  pagesMember(api: PromptApi): string | undefined
  /** the APIs on which `cache_salt` keeps tenants apart */
  readonly salts: readonly PromptApi[]
  /** where it describes its cache, the newer place first; empty: nowhere */
  readonly cacheSources: readonly CacheSource[]
  /** `members`: what the body already has; no member is removed */
  tagRequest(request: RequestId, cacheSalt: string, members?: BodyMembers): RequestTags
  /** Whether a request to this path is inference or asks about it. Other paths control or reveal the engine. */
  isInference(path: string): boolean
  /** Whether the engine looks up a request with these members in its cache. */
  readsCache(members: BodyMembers): boolean
  /** The request id that a body sets in the engine's own way; undefined: none. */
  idIn(members: BodyMembers): string | undefined
  /** What the engine's reports call the prompts of one request. */
  promptIds(request: RequestId, prompts: SentPrompts): RequestId[]
  /**
   * What the engine's reports call the first prompt of a request if the engine answered under an id it made itself;
   * undefined if the reports keep the id it was given.
   */
  reportedName(api: PromptApi, answerId: string): RequestId | undefined
  /** The ways to ask for the tokens of a request's prompts, the most reliable first; empty: it cannot answer. */
  tokenQuestions(api: PromptApi, path: string, members: BodyMembers): TokenQuestion[]
  /** How to ask for a prompt's tokens as its vocabulary writes them; undefined: it cannot answer. */
  tokenStrings(api: PromptApi, members: BodyMembers): TokenQuestion | undefined
  /** asks how likely an answer is under a prompt; undefined: it cannot say */
  readonly scoreAnswer: ScoreAnswer | undefined
}
