import type { Context, RequestId, ScopeId } from './context-block.ts'
import type { OrderingIndex } from './ordering-index.ts'

/** So many scopes are remembered of which nothing is cached; small caches lose all of a scope again and again. */
const maxIdleScopes = 1_000
/** of an index that does not say what it takes */
const bytesPerNode = 2_000

/** The contexts that requests hold: an index for each scope, since contexts share a prefix only behind equal text. */
export class HeldContexts {
  readonly #createIndex: () => OrderingIndex
  readonly #indexes = new Map<ScopeId, OrderingIndex>()
  /** scopes of which nothing is held any more: their indexes still know what is asked for behind them */
  readonly #idle = new Set<ScopeId>()

  constructor(createIndex: () => OrderingIndex) {
    this.#createIndex = createIndex
  }

  /** The index of the contexts behind a text; undefined where there never were any, or none for long. */
  at(scope: ScopeId): OrderingIndex | undefined {
    return this.#indexes.get(scope)
  }

  /** From now on a request holds these blocks behind a text; none: nothing. `isAsked`: it has been sent just now. */
  hold(request: RequestId, scope: ScopeId, blocks: Context, sizes: readonly number[], isAsked: boolean): void {
    if (blocks.length > 0) this.#require(scope).insert(blocks, sizes, request, isAsked)
    else this.#remove(request, scope)
  }

  /** Of the blocks that a request holds behind a text it holds only the first `length` from now on. */
  cut(request: RequestId, scope: ScopeId, length: number): void {
    if (length > 0) this.#indexes.get(scope)?.cut(request, length)
    else this.#remove(request, scope)
  }

  /** Nothing is held. */
  clear(): void {
    this.#indexes.clear()
    this.#idle.clear()
  }

  /** How large all indexes are together; bytes are estimated. */
  get statistics(): { readonly nodes: number; readonly contexts: number; readonly bytes: number } {
    let [nodes, contexts, bytes] = [0, 0, 0]
    for (const index of this.#indexes.values()) {
      nodes += index.nodes
      contexts += index.requests
      bytes += index.bytes ?? index.nodes * bytesPerNode
    }
    return { nodes, contexts, bytes }
  }

  #remove(request: RequestId, scope: ScopeId): void {
    const index = this.#indexes.get(scope)
    index?.remove(request)
    if (index?.requests !== 0) return
    this.#idle.add(scope)
    if (this.#idle.size <= maxIdleScopes) return
    const [longest] = this.#idle
    this.#idle.delete(longest!)
    this.#indexes.delete(longest!)
  }

  #require(scope: ScopeId): OrderingIndex {
    this.#idle.delete(scope)
    let index = this.#indexes.get(scope)
    if (!index) {
      index = this.#createIndex()
      this.#indexes.set(scope, index)
    }
    return index
  }
}
