import type { RequestId } from '#index/context-block.ts'

/** Reports kept for unknown names: a name is learned from the answer, which comes long after the first report. */
const maxUnclaimed = 1_000
const maxNames = 20_000

/**
 * Maps the engine's ids to ours for requests to which the engine assigns its own id (vLLM's and SGLang's
 * `/v1/responses`, SGLang's samples). The answer reveals the id. Bounded; the oldest entries are dropped first.
 */
export class EngineNames {
  readonly #requests = new Map<RequestId, RequestId>()
  readonly #unclaimed = new Map<RequestId, number>()

  /** Returns our id for the engine's name, or the name itself if it is not mapped. */
  resolve(name: RequestId): RequestId {
    return this.#requests.get(name) ?? name
  }

  /** Keeps the latest report about a name that no request has claimed yet. */
  keep(name: RequestId, cachedTokens: number): void {
    this.#unclaimed.delete(name)
    this.#unclaimed.set(name, cachedTokens)
    if (this.#unclaimed.size > maxUnclaimed) this.#unclaimed.delete(first(this.#unclaimed))
  }

  /** Maps `name` to `request` from now on. Returns the latest count reported for `name`, if there is one. */
  claim(request: RequestId, name: RequestId): number | undefined {
    this.#requests.set(name, request)
    if (this.#requests.size > maxNames) this.#requests.delete(first(this.#requests))
    const reported = this.#unclaimed.get(name)
    this.#unclaimed.delete(name)
    return reported
  }

  /** Drops the kept reports: the engine no longer holds what it reported. */
  clear(): void {
    this.#unclaimed.clear()
  }
}

function first(map: ReadonlyMap<RequestId, unknown>): RequestId {
  const [oldest] = map.keys()
  return oldest!
}
