import { AverageDensity } from '#index/average-density.ts'
import { getOrMake } from '#index/get-or-make.ts'
import type { KeyEntry } from './api-keys.ts'

/** Whether a request may proceed, or when to retry it. */
type RateDecision = { readonly ok: true } | { readonly ok: false; readonly retryAfterSeconds: number }

type LimitedKey = Pick<KeyEntry, 'id' | 'requestsPerMinute' | 'tokensPerMinute'>

/** What a key may still use at a moment; a negative level is a debt. */
interface Bucket {
  level: number
  /** milliseconds */
  at: number
}

export interface KeyUse {
  readonly requests: number
  readonly tokens: number
}

interface Buckets {
  readonly requests: Bucket
  readonly tokens: Bucket
  /** tokens of prompts by bytes of their bodies */
  readonly density: AverageDensity
  /** used here since it was last asked for */
  news: KeyUse
}

const minute = 60_000
const nothing: KeyUse = { requests: 0, tokens: 0 }
/** Tolerance for rounding errors when a level is filled in many small steps. */
const rounding = 1e-3

/**
 * Limits requests and tokens per minute for each API key. Buckets hold a minute's worth and fill steadily. A
 * prompt larger than a minute's worth proceeds when its bucket is full; later requests wait until it is paid off.
 */
export class RateLimits {
  readonly #buckets = new Map<string, Buckets>()

  /** Takes a request's share, or nothing if it must wait; `now` in milliseconds, monotonic. */
  take(key: LimitedKey, tokens: number, now: number): RateDecision {
    const decision = this.look(key, tokens, now)
    if (decision.ok && isLimited(key)) {
      use(this.#bucketsOf(key, now), { requests: 1, tokens })
    }
    return decision
  }

  /** Says whether a request of at least so many tokens could proceed, and takes nothing. */
  look(key: LimitedKey, wanted: number, now: number): RateDecision {
    if (!isLimited(key)) return { ok: true }
    const { requestsPerMinute = 0, tokensPerMinute = 0 } = key
    const { requests, tokens } = this.#bucketsOf(key, now)
    const wait = Math.max(fill(requests, requestsPerMinute, 1, now), fill(tokens, tokensPerMinute, wanted, now))
    return wait > 0 ? { ok: false, retryAfterSeconds: Math.max(1, Math.ceil(wait / 1000 - 1e-9)) } : { ok: true }
  }

  /** How many tokens prompts of this key had lately, by bytes of their bodies. */
  densityOf(key: LimitedKey, now: number): AverageDensity {
    return this.#bucketsOf(key, now).density
  }

  /** Corrects what was taken for a prompt once the engine has counted it; `actual` is 0 if the engine never got it. */
  settle(key: LimitedKey, estimated: number, actual: number): void {
    const buckets = this.#buckets.get(key.id)
    if (buckets) use(buckets, { requests: 0, tokens: actual - estimated })
  }

  /** Notes what a key used elsewhere; `at`: when, in milliseconds as of `take`. */
  adopt(key: LimitedKey, { requests, tokens }: KeyUse, at: number): void {
    const buckets = this.#bucketsOf(key, at)
    fill(buckets.requests, key.requestsPerMinute ?? 0, 0, at)
    fill(buckets.tokens, key.tokensPerMinute ?? 0, 0, at)
    buckets.requests.level -= requests
    buckets.tokens.level -= tokens
  }

  /** Returns what each key used here since the last call. */
  takeNews(): Map<string, KeyUse> {
    const news = new Map<string, KeyUse>()
    for (const [id, buckets] of this.#buckets) {
      if (buckets.news !== nothing) news.set(id, buckets.news)
      buckets.news = nothing
    }
    return news
  }

  /** Forgets all keys but these. */
  retain(keys: readonly Pick<KeyEntry, 'id'>[]): void {
    const kept = new Set(keys.map(({ id }) => id))
    for (const id of this.#buckets.keys()) if (!kept.has(id)) this.#buckets.delete(id)
  }

  #bucketsOf({ id, requestsPerMinute = 0, tokensPerMinute = 0 }: LimitedKey, now: number): Buckets {
    return getOrMake(this.#buckets, id, () => ({
      requests: { level: requestsPerMinute, at: now },
      tokens: { level: tokensPerMinute, at: now },
      density: new AverageDensity(),
      news: nothing,
    }))
  }
}

function use(buckets: Buckets, { requests, tokens }: KeyUse): void {
  buckets.requests.level -= requests
  buckets.tokens.level -= tokens
  buckets.news = { requests: buckets.news.requests + requests, tokens: buckets.news.tokens + tokens }
}

export function isLimited({ requestsPerMinute = 0, tokensPerMinute = 0 }: Omit<LimitedKey, 'id'>): boolean {
  return requestsPerMinute > 0 || tokensPerMinute > 0
}

/** Fills a bucket up to `now`. Returns the milliseconds until it holds what is wanted. */
function fill(bucket: Bucket, perMinute: number, wanted: number, now: number): number {
  if (perMinute === 0) {
    bucket.level = Number.POSITIVE_INFINITY
    return 0
  }
  bucket.level = Math.min(perMinute, bucket.level + (Math.max(0, now - bucket.at) * perMinute) / minute)
  bucket.at = Math.max(now, bucket.at)
  const missing = Math.min(wanted, perMinute) - bucket.level
  return missing <= rounding ? 0 : (missing / perMinute) * minute
}
