import type { CacheRequest, CacheSequence, PrefixCache, ReusedTokens } from '#emulator/cache/prefix-cache.ts'
import type { CachedRequest, CacheReport } from '#emulator/cache/request-ledger.ts'
import type { EmulatorOptions } from '#emulator/emulator.ts'
import { type AnyPositionReuse, recomputedShare } from '#engine-adapters/any-position-reuse.ts'
import { readWish } from './read-wish.ts'
import { SeenSegments } from './seen-segments.ts'

/** How an engine reuses KV that it computed at another position. */
interface ReuseOptions extends AnyPositionReuse {
  /** tokens whose KV is kept for reuse */
  readonly hostTokens: number
}

const usual: ReuseOptions = { ratio: 0.15, min_ratio: 0, max_ratio: 1, hostTokens: 2_000_000 }

/** The option of an emulator that computes this share of what it reuses again. */
export function reusing(ratio: number, more: Partial<ReuseOptions> = {}): Pick<EmulatorOptions, 'reusing'> {
  return { reusing: (exact) => new ReusingCache(exact, { ...usual, ratio, ...more }) }
}

/**
 * A prefix cache of an engine that, after the exact prefix, reuses KV computed at another position. Reused KV is not
 * exact, nor is anything computed after it, so none of it enters the prefix cache.
 */
export class ReusingCache implements PrefixCache {
  readonly #exact: PrefixCache
  readonly #reuse: AnyPositionReuse
  readonly #segments: SeenSegments
  /** what was reused for requests computed since the last reports */
  readonly #reused = new Map<string, ReusedTokens>()

  constructor(exact: PrefixCache, { hostTokens, ...reuse }: ReuseOptions) {
    this.#exact = exact
    this.#reuse = reuse
    this.#segments = new SeenSegments(hostTokens)
  }

  /** What the engine announces in its snapshots. */
  get offer(): { ratio: number; min_ratio: number; max_ratio: number } {
    const { ratio, min_ratio = 0, max_ratio } = this.#reuse
    return { ratio, min_ratio, max_ratio }
  }

  get capacityTokens(): number {
    return this.#exact.capacityTokens
  }

  get usedTokens(): number {
    return this.#exact.usedTokens
  }

  open(request: CacheRequest): CacheSequence {
    // a ratio of 1 recomputes everything: nothing is reused
    const ratio = recomputedShare(this.#reuse, readWish({ reprise: request.wish }, request.promptTokens)) ?? 1
    return new ReusingSequence(this.#exact.open(request), this.#segments, request, ratio, (reused) =>
      this.#reused.set(request.requestId, reused),
    )
  }

  match(tokens: Uint32Array, salt: string): number {
    return this.#exact.match(tokens, salt)
  }

  clear(): boolean {
    if (!this.#exact.clear()) return false
    this.#segments.clear()
    this.#reused.clear()
    return true
  }

  takeReports(): CacheReport[] {
    const reports = this.#exact.takeReports().map((report) => {
      const reused = report.type === 'stored' ? this.#takeReused(report.request_id) : undefined
      return reused ? { ...report, ...reused } : report
    })
    // the prefix cache holds nothing for these requests, and does not report them
    for (const request_id of [...this.#reused.keys()]) {
      reports.push({ type: 'stored', request_id, cached_tokens: 0, ...this.#takeReused(request_id) })
    }
    return reports
  }

  requests(): CachedRequest[] {
    return this.#exact.requests()
  }

  #takeReused(requestId: string): { reused_tokens: number; recomputed_tokens: number } | undefined {
    const reused = this.#reused.get(requestId)
    this.#reused.delete(requestId)
    return reused && { reused_tokens: reused.kept, recomputed_tokens: reused.recomputed }
  }
}

class ReusingSequence implements CacheSequence {
  readonly #exact: CacheSequence
  readonly #segments: SeenSegments
  readonly #request: CacheRequest
  readonly #ratio: number
  readonly #tell: (reused: ReusedTokens) => void
  /** tokens before the first reused token */
  #exactTokens = Number.POSITIVE_INFINITY
  reused: ReusedTokens = { kept: 0, recomputed: 0 }

  constructor(
    exact: CacheSequence,
    segments: SeenSegments,
    request: CacheRequest,
    ratio: number,
    tell: (reused: ReusedTokens) => void,
  ) {
    this.#exact = exact
    this.#segments = segments
    this.#request = request
    this.#ratio = ratio
    this.#tell = tell
  }

  get cachedTokens(): number {
    return this.#exact.cachedTokens
  }

  acquire(): boolean {
    if (!this.#exact.acquire()) return false
    if (this.#ratio < 1) this.#reuse()
    return true
  }

  computed(tokens: number): void {
    const { salt, tokens: all } = this.#request
    this.#exact.computed(Math.min(tokens, this.#exactTokens))
    this.#segments.note(salt, all.subarray(0, tokens))
    if (this.#exactTokens < Number.POSITIVE_INFINITY) this.#tell(this.reused)
  }

  release(tokens: number): void {
    const { salt, tokens: all, promptTokens } = this.#request
    this.#exact.release(Math.min(tokens, this.#exactTokens))
    if (tokens > promptTokens) this.#segments.note(salt, all.subarray(promptTokens, tokens))
  }

  #reuse(): void {
    const { salt, tokens, promptTokens } = this.#request
    const runs = this.#segments.find(salt, tokens, { start: this.cachedTokens, end: promptTokens - 1 })
    if (runs.length === 0) return
    const found = runs.reduce((sum, { start, end }) => sum + end - start, 0)
    const kept = Math.round(found * (1 - this.#ratio))
    this.#exactTokens = runs[0]!.start
    this.reused = { kept, recomputed: found - kept }
  }
}
