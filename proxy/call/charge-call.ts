import type { KeyEntry } from '../access/api-keys.ts'
import type { RateLimits } from '../access/rate-limits.ts'
import { ProxyError } from '../errors.ts'
import type { Decision } from '../reuse/decision.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'
import type { Call } from './call.ts'

/** The charge of a request against the limits of its API key. */
export interface Charge {
  /**
   * Corrects the estimate to the tokens the engine counted; 0 if no engine ran the request. Only the first call counts.
   */
  settle(promptTokens: number): void
}

const free: Charge = { settle: () => {} }
/** English prose has about four bytes per token. */
const bytesPerToken = 4

/** Charges a request to its key. Throws `rate_limited` if the key's limits are used up. */
export function chargeCall(
  { rateLimits, telemetry, now }: { rateLimits: RateLimits; telemetry: Pick<Telemetry, 'metrics'>; now(): number },
  { caller: { key }, body }: Pick<Call, 'caller' | 'body'>,
  { promptTokens }: Pick<Decision, 'promptTokens'>,
): Charge {
  if (!key) return free
  const estimate = promptTokens || Math.ceil(body.length / bytesPerToken)
  const taken = rateLimits.take(key, estimate, now())
  if (!taken.ok) {
    telemetry.metrics.rateLimited.inc()
    const seconds = taken.retryAfterSeconds
    throw new ProxyError('rate_limited', `The limits of this API key are used up: try again in ${seconds} s.`, {
      headers: { 'retry-after': String(seconds), ...limitHeaders(key, seconds) },
    })
  }
  let isSettled = false
  return {
    settle: (actual) => {
      if (!isSettled) rateLimits.settle(key, estimate, actual)
      isSettled = true
    },
  }
}

/** The limits of a key, under the header names that OpenAI's clients read. */
function limitHeaders({ requestsPerMinute, promptTokensPerMinute }: KeyEntry, seconds: number): Record<string, string> {
  const told = (name: string, limit: number | undefined): Record<string, string> =>
    limit === undefined
      ? {}
      : { [`x-ratelimit-limit-${name}`]: String(limit), [`x-ratelimit-reset-${name}`]: `${seconds}s` }
  return { ...told('requests', requestsPerMinute), ...told('tokens', promptTokensPerMinute) }
}
