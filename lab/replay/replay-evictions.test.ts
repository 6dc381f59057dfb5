import { expect, test } from 'vitest'
import { replayDefaults } from '#tools/replay/replay-options.ts'
import { requestsOf } from '#tools/replay/requests.fixture.ts'
import { bytesPerToken } from './latency-model.ts'
import { replayEvictions } from './replay-evictions.ts'

const requests = requestsOf([[['a', 200]], [['b', 200]], [['a', 200]], [['c', 200]], [['b', 200]]])
const settings = { ...replayDefaults, systemTokens: 0, capacityTokens: 300, answerTokens: 100 }

test('what is computed is waited for, and a host takes what is evicted', () => {
  const plain = replayEvictions(requests, 'rank', settings, {})
  expect(plain.hostFigures).toBeUndefined()
  // 10,000 tokens per second are computed
  expect(plain.waitSeconds).toBeCloseTo((plain.promptTokens - plain.cachedTokens) / 10_000, 9)
  const { hostFigures, waitSeconds } = replayEvictions(requests, 'rank', settings, { hostTokens: 500, admission: 0 })
  expect(hostFigures!.offloaded).toBeGreaterThan(0)
  expect(hostFigures!.found).toBeGreaterThan(0)
  expect(waitSeconds).toBeLessThan(plain.waitSeconds)
  expect(bytesPerToken).toBe(131_072)
})
