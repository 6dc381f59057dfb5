import type { KeyEntry } from './api-keys.ts'

/** Whether a request may proceed, or when to retry it. */
type RateDecision = { readonly ok: true } | { readonly ok: false; readonly retryAfterSeconds: number }

type LimitedKey = Pick<KeyEntry, 'id' | 'requestsPerMinute' | 'promptTokensPerMinute'>

/** What a key may still use at a moment; a negative level is a debt. */
interface Bucket {
  level: number
  /** milliseconds */
  at: number
}

interface Buckets {
  readonly requests: Bucket
  readonly tokens: Bucket
}

const minute = 60_000
/** Tolerance for rounding errors when a level is filled in many small steps. */
const rounding = 1e-3

/**
 * Limits requests and prompt tokens per minute for each API key. Buckets hold a minute's worth and fill steadily. A
 * prompt larger than a minute's worth proceeds when its bucket is full; later requests wait until it is paid off.
 */
export class RateLimits {
  readonly #buckets = new Map<string, Buckets>()

  /** Takes a request's share, or nothing if it must wait; `now` in milliseconds, monotonic. */
  take(key: LimitedKey, promptTokens: number, now: number): RateDecision {
    const decision = this.look(key, promptTokens, now)
    if (decision.ok && isLimited(key)) {
      const { requests, tokens } = this.#bucketsOf(key, now)
      requests.level -= 1
      tokens.level -= promptTokens
    }
    return decision
  }

  /** Says whether a request of at least `promptTokens` could proceed, and takes nothing. */
  look(key: LimitedKey, promptTokens: number, now: number): RateDecision {
    if (!isLimited(key)) return { ok: true }
    const { requestsPerMinute = 0, promptTokensPerMinute = 0 } = key
    const { requests, tokens } = this.#bucketsOf(key, now)
    const wait = Math.max(
      fill(requests, requestsPerMinute, 1, now),
      fill(tokens, promptTokensPerMinute, promptTokens, now),
    )
    return wait > 0 ? { ok: false, retryAfterSeconds: Math.max(1, Math.ceil(wait / 1000 - 1e-9)) } : { ok: true }
  }

  /** Corrects what was taken for a prompt once the engine has counted it; `actual` is 0 if the engine never got it. */
  settle(key: LimitedKey, estimated: number, actual: number): void {
    const tokens = this.#buckets.get(key.id)?.tokens
    if (tokens) tokens.level += estimated - actual
  }

  /** Forgets all keys but these. */
  retain(keys: readonly Pick<KeyEntry, 'id'>[]): void {
    const kept = new Set(keys.map(({ id }) => id))
    for (const id of this.#buckets.keys()) if (!kept.has(id)) this.#buckets.delete(id)
  }

  #bucketsOf({ id, requestsPerMinute = 0, promptTokensPerMinute = 0 }: LimitedKey, now: number): Buckets {
    const known = this.#buckets.get(id)
    if (known) return known
    const buckets = {
      requests: { level: requestsPerMinute, at: now },
      tokens: { level: promptTokensPerMinute, at: now },
    }
    this.#buckets.set(id, buckets)
    return buckets
  }
}

function isLimited({ requestsPerMinute = 0, promptTokensPerMinute = 0 }: LimitedKey): boolean {
  return requestsPerMinute > 0 || promptTokensPerMinute > 0
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
