import { LRUCache } from 'lru-cache'
import type { RequestId } from '#index/context-block.ts'

/** Reports kept for unknown names: a name is learned from the answer, which comes long after the first report. */
const maxUnclaimed = 1_000
const maxNames = 20_000

/**
 * Maps the engine's ids to ours for requests to which the engine assigns its own id (vLLM's and SGLang's
 * `/v1/responses`, SGLang's samples). The answer reveals the id.
 */
export class EngineNames {
  readonly #requests = new LRUCache<RequestId, RequestId>({ max: maxNames })
  readonly #unclaimed = new LRUCache<RequestId, number>({ max: maxUnclaimed })

  /** Returns our id for the engine's name, or the name itself if it is not mapped. */
  resolve(name: RequestId): RequestId {
    return this.#requests.get(name) ?? name
  }

  /** Keeps the latest report about a name that no request has claimed yet. */
  keep(name: RequestId, cachedTokens: number): void {
    this.#unclaimed.set(name, cachedTokens)
  }

  /** Maps `name` to `request` from now on. Returns the latest count reported for `name`, if there is one. */
  claim(request: RequestId, name: RequestId): number | undefined {
    this.#requests.set(name, request)
    const reported = this.#unclaimed.get(name)
    this.#unclaimed.delete(name)
    return reported
  }

  /** Drops the kept reports: the engine no longer holds what it reported. */
  clear(): void {
    this.#unclaimed.clear()
  }
}
