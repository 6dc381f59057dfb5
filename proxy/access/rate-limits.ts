import type { KeyEntry } from './api-keys.ts'

/** Whether a request may go on, or when it may be tried again. */
export type RateDecision = { readonly ok: true } | { readonly ok: false; readonly retryAfterSeconds: number }

type LimitedKey = Pick<KeyEntry, 'id' | 'requestsPerMinute' | 'promptTokensPerMinute'>

/** What a key may still use up at a moment; below zero it owes. */
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
/** What is lost when a level is added up in many small steps. */
const rounding = 1e-3

/**
 * Requests and prompt tokens a minute, per API key: buckets that hold a minute's worth and fill steadily. A prompt that
 * is larger than a minute's worth goes on when its bucket is full, and what follows waits until it is paid for.
 */
export class RateLimits {
  readonly #buckets = new Map<string, Buckets>()

  /** Takes a request's share, or nothing; `now` in milliseconds, monotonic. */
  take(key: LimitedKey, promptTokens: number, now: number): RateDecision {
    const { requestsPerMinute = 0, promptTokensPerMinute = 0 } = key
    if (requestsPerMinute === 0 && promptTokensPerMinute === 0) return { ok: true }
    const { requests, tokens } = this.#bucketsOf(key, now)
    const wait = Math.max(
      fill(requests, requestsPerMinute, 1, now),
      fill(tokens, promptTokensPerMinute, promptTokens, now),
    )
    if (wait > 0) return { ok: false, retryAfterSeconds: Math.max(1, Math.ceil(wait / 1000 - 1e-9)) }
    requests.level -= 1
    tokens.level -= promptTokens
    return { ok: true }
  }

  /** Corrects what was taken for a prompt, once the engine has counted it; 0 for one that it never got. */
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

/** Fills a bucket up to now; how long until it holds what is wanted, in milliseconds. */
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
