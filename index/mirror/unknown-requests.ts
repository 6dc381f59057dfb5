import { ShardedMap } from '../columns/sharded-map.ts'
import type { RequestId, ScopeId } from '../context-block.ts'

const notSaid = -1

/**
 * Our requests that an engine holds in part but whose tokens are unknown. Up to a hundred thousand reports arrive per
 * second, so each is stored as a number without allocating an object.
 */
export class UnknownRequests {
  /** tokens that the engine last reported as held */
  readonly #reported = new ShardedMap<RequestId, number>()
  /** prefixes, cut by characters, of requests sent here; those of other proxies' requests are unknown */
  readonly #prefixes = new Map<RequestId, readonly ScopeId[]>()

  has(request: RequestId): boolean {
    return this.#reported.has(request)
  }

  /** Returns undefined if the engine has not reported it or the request is not in the set. */
  reportedOf(request: RequestId): number | undefined {
    const reported = this.#reported.get(request)
    return reported === notSaid ? undefined : reported
  }

  prefixesOf(request: RequestId): readonly ScopeId[] | undefined {
    return this.#prefixes.get(request)
  }

  /** Adds a request that was sent here. */
  add(request: RequestId, prefixes: readonly ScopeId[], reported: number | undefined): void {
    this.#prefixes.set(request, prefixes)
    this.#reported.set(request, reported ?? notSaid)
  }

  /** Adds a request that another proxy, or this one before a restart, has sent, unless it is in the set. */
  inherit(request: RequestId): void {
    if (!this.#reported.has(request)) this.#reported.set(request, notSaid)
  }

  /** Records how many leading tokens of a request the engine holds. */
  report(request: RequestId, tokens: number): void {
    this.#reported.set(request, tokens)
  }

  delete(request: RequestId): void {
    this.#prefixes.delete(request)
    this.#reported.delete(request)
  }

  clear(): void {
    this.#prefixes.clear()
    this.#reported.clear()
  }

  keys(): Generator<RequestId> {
    return this.#reported.keys()
  }

  /** Returns how many of a prompt's prefixes any of these requests may hold. O(number of requests). */
  countShared(prefixes: readonly ScopeId[]): number {
    if (this.#reported.size > this.#prefixes.size) return prefixes.length
    let count = 0
    for (const others of this.#prefixes.values()) {
      while (count < prefixes.length && others.includes(prefixes[count]!)) count += 1
    }
    return count
  }
}
