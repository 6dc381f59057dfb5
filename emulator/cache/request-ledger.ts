/** What an engine reports about its cache: the events of the eviction callbacks. */
export type CacheReport =
  | {
      type: 'stored'
      request_id: string
      /** exact prefix hits only */
      cached_tokens: number
      /** if the engine reuses KV at any position: tokens reused unchanged, and tokens found but recomputed */
      reused_tokens?: number
      recomputed_tokens?: number
    }
  | { type: 'evicted'; request_id: string; cached_tokens: number; tier: 'gpu' }
  | { type: 'cleared' }

/** A request and the length of its longest prefix that is still cached. */
export interface CachedRequest {
  request_id: string
  cached_tokens: number
}

/** A node in a cache's tree of prefixes. */
export interface PrefixNode {
  readonly parent: PrefixNode | undefined
  /** Length of the prefix that ends here; 0 at the root. */
  readonly end: number
  /** The requests whose longest cached prefix ends here; absent while there are none. */
  holders: Set<string> | undefined
}

// an upper bound on one request's bytes in a snapshot; receivers refuse snapshots above 8 MiB
const reportBytes = (requestId: string): number => JSON.stringify(requestId).length + 50

/**
 * Tracks which cached prefix each request still has. A request is kept at one node, its deepest cached one, so a page
 * shared by a thousand requests costs nothing extra. Caches evict leaves, so falling back is one step up.
 */
export class RequestLedger {
  readonly #nodes = new Map<string, PrefixNode>()
  readonly #lastEviction = new Map<string, { cached_tokens: number }>()
  readonly #maximumBytes: number
  #reports: CacheReport[] = []
  #bytes = 0

  constructor(maximumBytes: number = 6 << 20) {
    this.#maximumBytes = maximumBytes
  }

  /** Records `requestId` as cached up to `node` (undefined or root: not at all); replaces its older request. */
  store(requestId: string, node: PrefixNode | undefined): void {
    if (!node || node.end === 0) {
      if (this.#nodes.has(requestId)) this.#drop(requestId)
      return
    }
    this.#leave(requestId)
    this.#nodes.set(requestId, node)
    this.#bytes += reportBytes(requestId)
    join(node, requestId)
    this.#lastEviction.delete(requestId)
    this.#reports.push({ type: 'stored', request_id: requestId, cached_tokens: node.end })
    this.#makeRoom()
  }

  /** Records that `node`, a leaf, is no longer cached: its requests fall back to its parent. */
  retreat(node: PrefixNode): void {
    const parent = node.parent
    for (const requestId of node.holders ?? []) {
      if (parent && parent.end > 0) {
        this.#nodes.set(requestId, parent)
        join(parent, requestId)
        this.#reportEviction(requestId, parent.end)
      } else {
        this.#drop(requestId)
      }
    }
    node.holders = undefined
  }

  /** Records that `node`, a leaf, has lost its end: its requests stay there. */
  shorten(node: PrefixNode): void {
    for (const requestId of node.holders ?? []) this.#reportEviction(requestId, node.end)
  }

  clear(): void {
    for (const node of this.#nodes.values()) node.holders = undefined
    this.#nodes.clear()
    this.#lastEviction.clear()
    this.#bytes = 0
    this.#reports = [{ type: 'cleared' }]
  }

  /** What changed since the last call, in order; several evictions of a request count as one. */
  takeReports(): CacheReport[] {
    const reports = this.#reports
    this.#reports = []
    this.#lastEviction.clear()
    return reports
  }

  requests(): CachedRequest[] {
    return Array.from(this.#nodes, ([request_id, node]) => ({ request_id, cached_tokens: node.end }))
  }

  #leave(requestId: string): void {
    const node = this.#nodes.get(requestId)
    if (!node) return
    this.#nodes.delete(requestId)
    this.#bytes -= reportBytes(requestId)
    node.holders?.delete(requestId)
    if (node.holders?.size === 0) node.holders = undefined
  }

  #drop(requestId: string): void {
    this.#leave(requestId)
    this.#reportEviction(requestId, 0)
  }

  #reportEviction(requestId: string, cachedTokens: number): void {
    const last = this.#lastEviction.get(requestId)
    if (last) {
      last.cached_tokens = cachedTokens
      return
    }
    const report = {
      type: 'evicted' as const,
      request_id: requestId,
      cached_tokens: cachedTokens,
      tier: 'gpu' as const,
    }
    this.#lastEviction.set(requestId, report)
    this.#reports.push(report)
  }

  /** Forgets the requests stored longest ago. They then count as not cached, which never over-estimates. */
  #makeRoom(): void {
    for (const requestId of this.#nodes.keys()) {
      if (this.#bytes <= this.#maximumBytes) return
      this.#drop(requestId)
    }
  }
}

function join(node: PrefixNode, requestId: string): void {
  node.holders ??= new Set()
  node.holders.add(requestId)
}
