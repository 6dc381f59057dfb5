import type { Usage } from '#engine-adapters/read-usage.ts'
import type { KeyEntry } from '../access/api-keys.ts'
import { isLimited, type RateLimits } from '../access/rate-limits.ts'
import type { Caller } from '../access/tenancy.ts'
import { ProxyError } from '../common/errors.ts'
import type { Decision } from '../reuse/decision.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'

/** The charge of a request against the limits of its API key. */
export interface Charge {
  /**
   * Corrects the estimate to what the engine counted. `not_run`: no engine ran the request. `unreported`: one did, but
   * did not say what it had cached, so all of the prompt counts. Only the first call counts.
   */
  settle(usage: ChargedUsage | 'not_run' | 'unreported'): void
}

type ChargedUsage = Pick<Usage, 'promptTokens' | 'cachedTokens' | 'reusedTokens'>

const free: Charge = { settle: () => {} }
interface Charging {
  readonly rateLimits: RateLimits
  readonly telemetry: Pick<Telemetry, 'metrics'>
  now(): number
}

/**
 * Throws `rate_limited` if the limits of a key are used up whatever the request holds: before its body is read, which
 * costs more than to say so.
 */
export function refuseSpentKey({ rateLimits, telemetry, now }: Charging, { key }: Caller): void {
  const looked = key ? rateLimits.look(key, 1, now()) : undefined
  if (looked?.ok === false) throw rateLimited(telemetry, key!, looked.retryAfterSeconds)
}

/** Charges a request to its key. Throws `rate_limited` if the key's limits are used up. */
export function chargeCall(
  { rateLimits, telemetry, now }: Charging,
  { key }: Caller,
  { promptTokens, predictedCachedTokens }: Pick<Decision, 'promptTokens' | 'predictedCachedTokens'>,
  bodyBytes: number,
): Charge {
  if (!key || !isLimited(key)) return free
  // by what prompts of this key had: what others send must not use up its limits
  const density = rateLimits.densityOf(key, now())
  const whole = Math.ceil(bodyBytes * density.tokensPerCharacter)
  const coldShare = promptTokens > 0 ? Math.max(0, 1 - predictedCachedTokens / promptTokens) : 1
  const estimate = key.countsColdTokens ? Math.ceil(whole * coldShare) : whole
  const taken = rateLimits.take(key, estimate, now())
  if (!taken.ok) throw rateLimited(telemetry, key, taken.retryAfterSeconds)
  let isSettled = false
  return {
    settle: (usage) => {
      const told = usage === 'not_run' ? 0 : usage === 'unreported' ? whole : countedOf(usage, key)
      if (isSettled) return
      isSettled = true
      rateLimits.settle(key, estimate, told)
      if (typeof usage === 'object' && bodyBytes > 0) density.note(usage.promptTokens / bodyBytes)
    },
  }
}

function countedOf(usage: ChargedUsage, { countsColdTokens }: KeyEntry): number {
  const { promptTokens, cachedTokens = 0, reusedTokens = 0 } = usage
  return countsColdTokens ? Math.max(0, promptTokens - cachedTokens - reusedTokens) : promptTokens
}

function rateLimited({ metrics }: Charging['telemetry'], key: KeyEntry, seconds: number): ProxyError {
  metrics.rateLimited.inc()
  return new ProxyError('rate_limited', `The limits of this API key are used up: try again in ${seconds} s.`, {
    headers: { 'retry-after': String(seconds), ...limitHeaders(key, seconds) },
  })
}

/** The limits of a key, under the header names that OpenAI's clients read. */
function limitHeaders({ requestsPerMinute, tokensPerMinute }: KeyEntry, seconds: number): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const [name, limit] of Object.entries({ requests: requestsPerMinute, tokens: tokensPerMinute })) {
    if (limit === undefined) continue
    headers[`x-ratelimit-limit-${name}`] = String(limit)
    headers[`x-ratelimit-reset-${name}`] = `${seconds}s`
  }
  return headers
}
