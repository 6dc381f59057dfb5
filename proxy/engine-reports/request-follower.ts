import type { EngineRequest } from '#engine-adapters/engine-client.ts'
import type { PromptApi } from '#engine-adapters/prompt-api.ts'
import type { SentPrompt } from '#index/cache-event.ts'
import type { RequestId } from '#index/context-block.ts'
import type { Replica } from '../replicas/replica.ts'
import type { AskedPrompt } from './token-asker.ts'

/** What is estimated by characters may be too much by this factor: short texts are as dense as none before them. */
const estimateError = 2
/** The engine's answer about a longer prompt would hold up other requests: its tokens are estimated. */
const askedBytes = 1024 * 1024

/**
 * Follows one request to its replica in the engine's own tokens, where the engine reports what it caches: asks for them
 * beside the request, and predicts by them what it finds cached. Elsewhere it does nothing.
 */
export class RequestFollower {
  /** whether its tokens are asked for, so that more is known of it soon */
  readonly isAsked: boolean
  readonly #isFollowed: boolean
  readonly #replica: Replica
  readonly #ids: readonly RequestId[]
  readonly #api: PromptApi
  #prompts: readonly SentPrompt[] = []
  #asked: Promise<readonly AskedPrompt[] | undefined> | undefined
  #isKnown = false

  constructor(replica: Replica, api: PromptApi, ids: readonly RequestId[], bytes = 0) {
    this.#replica = replica
    this.#api = api
    this.#ids = ids
    const isReported = replica.events !== undefined || replica.replicaMirror.state.mode !== 'fallback'
    this.#isFollowed = isReported && replica.tokens !== undefined && ids.length > 0
    // an engine that does not say how it caches is no vLLM or SGLang, and not bothered with questions
    this.isAsked =
      this.#isFollowed && bytes <= askedBytes && (replica.events !== undefined || replica.cacheConfig !== undefined)
  }

  /** It goes to the engine now. */
  sent<T extends EngineRequest>(request: T, prompts: readonly SentPrompt[]): T {
    const { path, headers, body } = request
    if (!this.#isFollowed || !Buffer.isBuffer(body)) return request
    const { cache, tokens } = this.#replica
    this.#prompts = prompts
    cache.began(this.#ids, prompts)
    const asked = this.isAsked ? tokens!.tokensOf({ api: this.#api, path, headers, body }) : Promise.resolve(undefined)
    if (this.isAsked) this.#asked = asked
    void asked.then(this.#learn, () => this.#learn(undefined))
    return request
  }

  /** The engine's answer about its tokens; undefined: it is not asked, or not yet. */
  get asked(): Promise<readonly AskedPrompt[] | undefined> | undefined {
    return this.#asked
  }

  /**
   * How many tokens of it the engine has cached; undefined while that is not known to the token. `estimated`: by
   * characters, which may tell of more where something is held whose tokens are not known.
   */
  predict(estimated: number): number | undefined {
    const pageTokens = this.#pageTokens
    if (!this.#isKnown || pageTokens === undefined) return undefined
    const { cache } = this.#replica
    let [sum, unknown] = [0, 0]
    for (const [i, id] of this.#ids.entries()) {
      const held = cache.predict(id)
      if (held === undefined) return undefined
      sum += held
      unknown += cache.estimateUnknown(this.#prompts[i]!)
    }
    return Math.min(estimated, unknown) <= sum * estimateError + pageTokens ? sum : undefined
  }

  get #pageTokens(): number | undefined {
    const { events, cacheConfig } = this.#replica
    return events?.blockSize || cacheConfig?.pageTokens
  }

  readonly #learn = (asked: readonly AskedPrompt[] | undefined): void => {
    const prompts = asked?.length === this.#ids.length ? asked : undefined
    this.#isKnown = true
    this.#replica.cache.learned(this.#ids, prompts, this.#pageTokens)
  }
}
