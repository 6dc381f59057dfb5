import type { KeyEntry } from '../../access/api-keys.ts'
import { ProxyError } from '../../errors.ts'
import type { Decision } from '../../reuse/decision.ts'
import type { Pipeline } from '../pipeline.ts'
import type { Call } from './call.ts'

/** What a request was charged to the limits of its API key. */
export interface Charge {
  /** Corrects it once the engine has counted the prompt's tokens; 0 for a request that it never got. Counts once. */
  settle(promptTokens: number): void
}

const free: Charge = { settle: () => {} }
/** English prose is about four bytes a token. */
const bytesPerToken = 4

/** Charges a request to its key; throws `rate_limited` when the key has used up its share. */
export function chargeCall(
  { rateLimits, telemetry, now }: Pick<Pipeline, 'rateLimits' | 'telemetry' | 'now'>,
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

/** The limits of a key, under the names that OpenAI's clients read. */
function limitHeaders({ requestsPerMinute, promptTokensPerMinute }: KeyEntry, seconds: number): Record<string, string> {
  const told = (name: string, limit: number | undefined): Record<string, string> =>
    limit === undefined
      ? {}
      : { [`x-ratelimit-limit-${name}`]: String(limit), [`x-ratelimit-reset-${name}`]: `${seconds}s` }
  return { ...told('requests', requestsPerMinute), ...told('tokens', promptTokensPerMinute) }
}
