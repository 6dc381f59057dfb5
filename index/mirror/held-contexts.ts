import type { SharedBlocks } from '../columns/block-table.ts'
import type { Context, ScopeId } from '../context-block.ts'
import type { OrderingIndex } from '../ordering/ordering-index.ts'
import type { MirroredRequest } from './mirrored-requests.ts'

/** So many scopes are remembered of which nothing is cached; small caches lose all of a scope again and again. */
const maxIdleScopes = 1_000
/** of an index that does not say what it takes */
const bytesPerNode = 2_000

/** The contexts that requests hold: an index for each scope, since contexts share a prefix only behind equal text. */
export class HeldContexts {
  readonly #createIndex: (blocks: SharedBlocks) => OrderingIndex<MirroredRequest>
  readonly #blocks: SharedBlocks
  readonly #indexes = new Map<ScopeId, OrderingIndex<MirroredRequest>>()
  /** scopes of which nothing is held any more: their indexes still know what is asked for behind them */
  readonly #idle = new Set<ScopeId>()

  /** `blocks`: of which those that are held by number are. */
  constructor(createIndex: (blocks: SharedBlocks) => OrderingIndex<MirroredRequest>, blocks: SharedBlocks) {
    this.#createIndex = createIndex
    this.#blocks = blocks
  }

  /** The index of the contexts behind a text; undefined where there never were any, or none for long. */
  at(scope: ScopeId): OrderingIndex<MirroredRequest> | undefined {
    return this.#indexes.get(scope)
  }

  /** From now on a request holds these blocks behind a text; none: nothing. `isAsked`: it has been sent just now. */
  hold(request: MirroredRequest, scope: ScopeId, blocks: Context, sizes: readonly number[], isAsked: boolean): void {
    if (blocks.length > 0) this.#require(scope).insert(blocks, sizes, request, isAsked)
    else this.#remove(request, scope)
  }

  /** The same of blocks by number. */
  holdNumbers(request: MirroredRequest, scope: ScopeId, blocks: readonly number[], isAsked: boolean): void {
    if (blocks.length === 0) {
      this.#remove(request, scope)
      return
    }
    const index = this.#require(scope)
    if (index.insertNumbers && index.blocks === this.#blocks) {
      index.insertNumbers(blocks, request, isAsked)
      return
    }
    const context = blocks.map((block) => this.#blocks.idOf(block)) as Context
    const sizes = blocks.map((block) => this.#blocks.sizes[block]!)
    index.insert(context, sizes, request, isAsked)
  }

  /** Of the blocks that a request holds behind a text it holds only the first `length` from now on. */
  cut(request: MirroredRequest, scope: ScopeId, length: number): void {
    if (length > 0) this.#indexes.get(scope)?.cut(request, length)
    else this.#remove(request, scope)
  }

  /** Nothing is held. */
  clear(): void {
    for (const [scope, index] of this.#indexes) {
      index.clear()
      this.#rest(scope)
    }
  }

  /** Nothing is held, and nobody knows what was asked for. */
  forget(): void {
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

  #require(scope: ScopeId): OrderingIndex<MirroredRequest> {
    this.#idle.delete(scope)
    let index = this.#indexes.get(scope)
    if (!index) {
      index = this.#createIndex(this.#blocks)
      this.#indexes.set(scope, index)
    }
    return index
  }
}
