import type { EngineRequest } from '#engine-adapters/engine-client.ts'
import { type HeldTokens, nothingHeld } from '#engine-adapters/kv-events/reported-cache.ts'
import type { PromptApi } from '#engine-adapters/prompt-api.ts'
import type { SentPrompt } from '#index/cache-event.ts'
import type { RequestId } from '#index/context-block.ts'
import type { Replica } from '../replica.ts'
import type { AskedPrompt } from '../reports/token-asker.ts'

/** The estimate by characters may be too high by this factor: short texts can have an unusual token density. */
const estimateError = 2
/** For longer prompts, tokens are estimated: the engine's answer would hold up other requests. */
const askedBytes = 1024 * 1024

/**
 * Tracks one request in the engine's own tokens, if the engine reports what it caches. Asks for the tokens in parallel
 * with the request, and predicts from them what the engine finds cached. Does nothing for other engines.
 */
export class RequestFollower {
  /** whether its tokens are requested from the engine, so that more is known soon */
  readonly isAsked: boolean
  /** the engine's answer about its tokens; undefined if the engine has not been asked */
  asked: Promise<readonly AskedPrompt[] | undefined> | undefined
  readonly #isFollowed: boolean
  readonly #replica: Replica
  readonly #ids: readonly RequestId[]
  readonly #api: PromptApi
  #prompts: readonly SentPrompt[] = []
  #isKnown = false

  constructor(replica: Replica, api: PromptApi, ids: readonly RequestId[], bytes = 0) {
    this.#replica = replica
    this.#api = api
    this.#ids = ids
    const isReported = replica.events !== undefined || replica.replicaMirror.state.mode !== 'fallback'
    this.#isFollowed = isReported && replica.tokens !== undefined && ids.length > 0
    // an engine that does not describe its cache is neither vLLM nor SGLang, and is not asked
    this.isAsked =
      this.#isFollowed && bytes <= askedBytes && (replica.events !== undefined || replica.cacheConfig !== undefined)
  }

  /** The request is being sent to the engine. */
  sent<T extends EngineRequest>(request: T, prompts: readonly SentPrompt[]): T {
    const { path, headers, body } = request
    if (!this.#isFollowed || !Buffer.isBuffer(body)) return request
    const { cache, tokens } = this.#replica
    this.#prompts = prompts
    cache.began(this.#ids, prompts)
    if (this.isAsked) this.asked = tokens!.tokensOf({ api: this.#api, path, headers, body })
    void Promise.resolve(this.asked).then(this.#learn, () => this.#learn(undefined))
    return request
  }

  /**
   * How many of its tokens the engine has cached; undefined while that is not known exactly. `estimated`: the estimate
   * by characters, which may be higher if requests with unknown tokens are cached.
   */
  predict(estimated: number): HeldTokens | undefined {
    const pageTokens = this.#pageTokens
    if (!this.#isKnown || pageTokens === undefined) return undefined
    const { cache } = this.#replica
    let [sum, unknown]: [HeldTokens, number] = [nothingHeld, 0]
    for (const [i, id] of this.#ids.entries()) {
      const held = cache.predict(id)
      if (held === undefined) return undefined
      sum = { device: sum.device + held.device, host: sum.host + held.host, remote: sum.remote + held.remote }
      unknown += cache.estimateUnknown(this.#prompts[i]!)
    }
    return Math.min(estimated, unknown) <= sum.device * estimateError + pageTokens ? sum : undefined
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
