import { LRUCache } from 'lru-cache'
import type { BlockName } from '#engine-adapters/kv-events/block-naming.ts'
import type { LostBlocks } from '#engine-adapters/kv-events/held-blocks.ts'
import type { RequestId } from '#index/context-block.ts'
import { getOrMake } from '#index/get-or-make.ts'

/** Called when fewer of a request's blocks can be served than before. */
type CutListener = (request: RequestId, keptBlocks: number) => void

/**
 * Ties each request to a block: the last one it can be served from. When that block is lost, the request falls back to
 * the last one kept, so the cost of an eviction is proportional to the number of requests it affects. Bounded; the
 * oldest are dropped first.
 */
export class TiedRequests {
  readonly #onCut: CutListener
  readonly #places: LRUCache<RequestId, BlockName>
  readonly #resting = new Map<BlockName, Set<RequestId>>()

  constructor(maxRequests: number, onCut: CutListener) {
    this.#onCut = onCut
    const dispose = (block: BlockName, request: RequestId): void => this.#leave(request, block)
    this.#places = new LRUCache({ maxSize: maxRequests, sizeCalculation: () => 1, dispose })
  }

  /** How many requests are tied. */
  get size(): number {
    return this.#places.size
  }

  /** Ties a request to a block, in place of any earlier one. */
  tie(request: RequestId, block: BlockName): void {
    // also from the same block: those that rest on it are in order
    this.untie(request)
    this.#places.set(request, block)
    getOrMake(this.#resting, block, () => new Set<RequestId>()).add(request)
  }

  untie(request: RequestId): void {
    this.#places.delete(request)
  }

  /** Moves requests that are tied to lost blocks to the last block kept. */
  cut({ names, kept, keptBlocks }: LostBlocks): void {
    for (const name of names) {
      for (const request of [...(this.#resting.get(name) ?? [])]) {
        if (kept !== undefined && keptBlocks > 0) this.tie(request, kept)
        else this.untie(request)
        this.#onCut(request, keptBlocks)
      }
    }
  }

  clear(): void {
    this.#places.clear()
  }

  #leave(request: RequestId, block: BlockName): void {
    const requests = this.#resting.get(block)
    requests?.delete(request)
    if (requests?.size === 0) this.#resting.delete(block)
  }
}
