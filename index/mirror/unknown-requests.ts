import { ShardedMap } from '../columns/sharded-map.ts'
import type { RequestId, ScopeId } from '../context-block.ts'

const notSaid = -1

/**
 * Requests of ours of which an engine holds something, nobody knows which tokens. Reports come a hundred thousand a second:
 * each is a number, and nothing is made for it.
 */
export class UnknownRequests {
  /** tokens the engine last said it holds */
  readonly #reported = new ShardedMap<RequestId, number>()
  /** by characters, of those that were sent here: of what another proxy has sent nothing is known */
  readonly #prefixes = new Map<RequestId, readonly ScopeId[]>()

  has(request: RequestId): boolean {
    return this.#reported.has(request)
  }

  /** Undefined: the engine has not said so, or the request is not among them. */
  reportedOf(request: RequestId): number | undefined {
    const reported = this.#reported.get(request)
    return reported === notSaid ? undefined : reported
  }

  prefixesOf(request: RequestId): readonly ScopeId[] | undefined {
    return this.#prefixes.get(request)
  }

  /** One that was sent here. */
  add(request: RequestId, prefixes: readonly ScopeId[], reported: number | undefined): void {
    this.#prefixes.set(request, prefixes)
    this.#reported.set(request, reported ?? notSaid)
  }

  /** One that another proxy has sent, or this one in an earlier life, if it is not among them. */
  inherit(request: RequestId): void {
    if (!this.#reported.has(request)) this.#reported.set(request, notSaid)
  }

  /** The engine tells how many of its first tokens it holds. */
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

  /** How many of a prompt's prefixes one of them may hold. O(their number). */
  countShared(prefixes: readonly ScopeId[]): number {
    if (this.#reported.size > this.#prefixes.size) return prefixes.length
    let count = 0
    for (const others of this.#prefixes.values()) {
      while (count < prefixes.length && others.includes(prefixes[count]!)) count += 1
    }
    return count
  }
}
