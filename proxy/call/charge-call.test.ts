import { expect, test } from 'vitest'
import { RateLimits } from '../access/rate-limits.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'
import { chargeCall } from './charge-call.ts'

test('of a key without limits nothing is counted, so other proxies are told nothing', () => {
  const rateLimits = new RateLimits()
  const limits = { requestsPerMinute: undefined, tokensPerMinute: undefined, countsColdTokens: false }
  const key = { id: 'k', name: 'k', tenant: 't', ...limits, priority: undefined, expiresAt: Number.POSITIVE_INFINITY }
  const charging = { rateLimits, telemetry: {} as Pick<Telemetry, 'metrics'>, now: () => 0 }
  const charge = chargeCall(charging, { tenant: 't', key }, { promptTokens: 20, predictedCachedTokens: 0 }, 100)
  charge.settle({ promptTokens: 20, cachedTokens: undefined, reusedTokens: undefined })
  expect(rateLimits.takeNews()).toEqual(new Map())
})
