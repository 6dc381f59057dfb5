import type { ScopeId } from '../context-block.ts'
import { getOrMake } from '../get-or-make.ts'
import type { PrefixOrdering } from '../ordering/prefix-ordering.ts'
import type { MirroredRequest } from './mirrored-requests.ts'

/**
 * Maximum number of idle scopes, in which nothing is cached. Small caches often lose a whole scope and store it again.
 */
const maxIdleScopes = 1_000

/** The contexts that requests hold, with an index per scope because contexts share a prefix only after equal text. */
export class HeldContexts {
  readonly #createIndex: () => PrefixOrdering<MirroredRequest>
  readonly #indexes = new Map<ScopeId, PrefixOrdering<MirroredRequest>>()
  /** scopes in which nothing is held any more; their indexes still know the demand */
  readonly #idle = new Set<ScopeId>()

  /** `createIndex`: with the table that block numbers refer to. */
  constructor(createIndex: () => PrefixOrdering<MirroredRequest>) {
    this.#createIndex = createIndex
  }

  /** Returns the index of a scope; undefined if it never had contexts or was idle for long. */
  at(scope: ScopeId): PrefixOrdering<MirroredRequest> | undefined {
    return this.#indexes.get(scope)
  }

  /** Sets the blocks that a request holds in a scope; an empty list removes it. `isAsked`: it was sent just now. */
  hold(request: MirroredRequest, scope: ScopeId, blocks: readonly number[], isAsked: boolean): void {
    if (blocks.length > 0) this.#require(scope).insertNumbers(blocks, request, isAsked)
    else this.#remove(request, scope)
  }

  /** Keeps only the first `length` of the blocks that a request holds in a scope. */
  cut(request: MirroredRequest, scope: ScopeId, length: number): void {
    if (length > 0) this.#indexes.get(scope)?.cut(request, length)
    else this.#remove(request, scope)
  }

  /** Removes all held contexts; the demand history stays. */
  clear(): void {
    for (const [scope, index] of this.#indexes) {
      index.clear()
      this.#rest(scope)
    }
  }

  /** Removes all held contexts and the demand history. */
  forget(): void {
    this.#indexes.clear()
    this.#idle.clear()
  }

  /** Total size of all indexes; `bytes` is an estimate. */
  get statistics(): { readonly nodes: number; readonly contexts: number; readonly bytes: number } {
    let [nodes, contexts, bytes] = [0, 0, 0]
    for (const index of this.#indexes.values()) {
      nodes += index.nodes
      contexts += index.requests
      bytes += index.bytes
    }
    return { nodes, contexts, bytes }
  }

  #remove(request: MirroredRequest, scope: ScopeId): void {
    const index = this.#indexes.get(scope)
    index?.remove(request)
    if (index?.requests === 0) this.#rest(scope)
  }

  #rest(scope: ScopeId): void {
    this.#idle.add(scope)
    if (this.#idle.size <= maxIdleScopes) return
    const [longest] = this.#idle
    this.#idle.delete(longest!)
    this.#indexes.delete(longest!)
  }

  #require(scope: ScopeId): PrefixOrdering<MirroredRequest> {
    this.#idle.delete(scope)
    return getOrMake(this.#indexes, scope, this.#createIndex)
  }
}
