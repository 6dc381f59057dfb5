import type { RequestId, ScopeId } from '../context-block.ts'

const notSaid = -1

/**
 * Our requests that an engine holds in part but whose tokens are unknown. Up to a hundred thousand reports arrive per
 * second, so each is stored as a number without allocating an object.
 */
export class UnknownRequests {
  /** tokens that the engine last reported as held */
  readonly #reported = new Map<RequestId, number>()
  /** prefixes, cut by characters, of requests sent here; those of other proxies' requests are unknown */
  readonly #prefixes = new Map<RequestId, readonly ScopeId[]>()
  /** how many of these requests have each prefix */
  readonly #holders = new Map<ScopeId, number>()

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
    this.#leave(request)
    this.#prefixes.set(request, prefixes)
    for (const prefix of prefixes) this.#holders.set(prefix, (this.#holders.get(prefix) ?? 0) + 1)
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
    this.#leave(request)
    this.#reported.delete(request)
  }

  clear(): void {
    this.#prefixes.clear()
    this.#holders.clear()
    this.#reported.clear()
  }

  keys(): IterableIterator<RequestId> {
    return this.#reported.keys()
  }

  /** Returns how many of a prompt's prefixes any of these requests may hold. O(the prompt's prefixes). */
  countShared(prefixes: readonly ScopeId[]): number {
    if (this.#reported.size > this.#prefixes.size) return prefixes.length
    const first = prefixes.findIndex((prefix) => !this.#holders.has(prefix))
    return first < 0 ? prefixes.length : first
  }

  #leave(request: RequestId): void {
    for (const prefix of this.#prefixes.get(request) ?? []) {
      const holders = this.#holders.get(prefix)! - 1
      if (holders > 0) this.#holders.set(prefix, holders)
      else this.#holders.delete(prefix)
    }
    this.#prefixes.delete(request)
  }
}
