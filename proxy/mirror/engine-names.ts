import type { RequestId } from '#index/context-block.ts'

/** Names are learned from answers, which come long after the first report: so many reports about strangers are kept. */
const maxUnclaimed = 1_000
const maxNames = 20_000

/**
 * What an engine calls requests to which it gives ids of its own (vLLM's and SGLang's `/v1/responses`, SGLang's samples):
 * known when the answer tells it. Bounded; the oldest go first.
 */
export class EngineNames {
  readonly #requests = new Map<RequestId, RequestId>()
  readonly #unclaimed = new Map<RequestId, number>()

  /** Our id of what the engine calls by this name. */
  resolve(name: RequestId): RequestId {
    return this.#requests.get(name) ?? name
  }

  /** Keeps the last report about a name that is nobody's yet. */
  keep(name: RequestId, cachedTokens: number): void {
    this.#unclaimed.delete(name)
    this.#unclaimed.set(name, cachedTokens)
    if (this.#unclaimed.size > maxUnclaimed) this.#unclaimed.delete(first(this.#unclaimed))
  }

  /** From now on reports about `name` are about `request`; what was reported of it last, if anything was. */
  claim(request: RequestId, name: RequestId): number | undefined {
    this.#requests.set(name, request)
    if (this.#requests.size > maxNames) this.#requests.delete(first(this.#requests))
    const reported = this.#unclaimed.get(name)
    this.#unclaimed.delete(name)
    return reported
  }

  /** The engine holds nothing of what it reported. */
  clear(): void {
    this.#unclaimed.clear()
  }
}

function first(map: ReadonlyMap<RequestId, unknown>): RequestId {
  const [oldest] = map.keys()
  return oldest!
}
