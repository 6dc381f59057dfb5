import fc from 'fast-check'
import { expect, test } from 'vitest'
import { RateLimits } from './rate-limits.ts'

function keyOf(
  requestsPerMinute: number | undefined,
  tokensPerMinute: number | undefined,
  id = 'k',
): Parameters<RateLimits['take']>[0] {
  return { id, requestsPerMinute, tokensPerMinute }
}

test('a minute’s worth goes at once, then one by one', () => {
  const limits = new RateLimits()
  const key = keyOf(3, undefined)
  for (let i = 0; i < 3; i++) expect(limits.take(key, 1, 0)).toEqual({ ok: true })
  expect(limits.take(key, 1, 0)).toEqual({ ok: false, retryAfterSeconds: 20 })
  expect(limits.take(key, 1, 19_000)).toEqual({ ok: false, retryAfterSeconds: 1 })
  expect(limits.take(key, 1, 20_000)).toEqual({ ok: true })
  expect(limits.take(key, 1, 20_000)).toEqual({ ok: false, retryAfterSeconds: 20 })
})

test('what is refused for one reason takes nothing of the other', () => {
  const limits = new RateLimits()
  const key = keyOf(2, 100)
  expect(limits.take(key, 90, 0).ok).toBe(true)
  for (let i = 0; i < 5; i++) expect(limits.take(key, 50, 0)).toEqual({ ok: false, retryAfterSeconds: 24 })
  expect(limits.take(key, 10, 0).ok).toBe(true)
})

test('a prompt larger than a minute’s worth goes on when its bucket is full, and is paid for afterwards', () => {
  const limits = new RateLimits()
  const key = keyOf(undefined, 100)
  expect(limits.take(key, 250, 0)).toEqual({ ok: true })
  expect(limits.take(key, 1, 0)).toEqual({ ok: false, retryAfterSeconds: 91 })
  expect(limits.take(key, 250, 149_000)).toEqual({ ok: false, retryAfterSeconds: 1 })
  expect(limits.take(key, 250, 150_000)).toEqual({ ok: true })
})

test('the engine’s own count corrects what was estimated, and a request that it never got costs nothing', () => {
  const limits = new RateLimits()
  const key = keyOf(undefined, 100)
  limits.take(key, 100, 0)
  limits.settle(key, 100, 40)
  expect(limits.take(key, 60, 0).ok).toBe(true)
  limits.settle(key, 60, 0)
  expect(limits.take(key, 60, 0).ok).toBe(true)
  limits.settle(key, 60, 160)
  expect(limits.take(key, 1, 0)).toEqual({ ok: false, retryAfterSeconds: 61 })
})

test('keys do not share their limits, and a key without limits has none', () => {
  const limits = new RateLimits()
  expect(limits.take(keyOf(1, undefined, 'a'), 1, 0).ok).toBe(true)
  expect(limits.take(keyOf(1, undefined, 'b'), 1, 0).ok).toBe(true)
  expect(limits.take(keyOf(1, undefined, 'a'), 1, 0).ok).toBe(false)
  for (let i = 0; i < 100; i++) expect(limits.take(keyOf(undefined, undefined), 1e9, 0).ok).toBe(true)
})

test('a limit that changes holds from the next request on', () => {
  const limits = new RateLimits()
  expect(limits.take(keyOf(1, undefined), 10, 0).ok).toBe(true)
  expect(limits.take(keyOf(10, undefined), 10, 60_000).ok).toBe(true)
  expect(limits.take(keyOf(10, 20), 20, 60_000).ok).toBe(true)
  expect(limits.take(keyOf(10, 20), 1, 60_000)).toEqual({ ok: false, retryAfterSeconds: 3 })
})

test('to look takes nothing, and says what taking would', () => {
  const limits = new RateLimits()
  const key = keyOf(1, 100)
  for (let i = 0; i < 3; i++) expect(limits.look(key, 1, 0)).toEqual({ ok: true })
  expect(limits.take(key, 100, 0)).toEqual({ ok: true })
  expect(limits.look(key, 1, 0)).toEqual(limits.take(key, 1, 0))
  expect(limits.look(key, 1, 0)).toEqual({ ok: false, retryAfterSeconds: 60 })
})

test('keys that are gone are forgotten', () => {
  const limits = new RateLimits()
  const [kept, gone] = [keyOf(1, undefined, 'kept'), keyOf(1, undefined, 'gone')]
  limits.take(kept, 1, 0)
  limits.take(gone, 1, 0)
  limits.retain([kept])
  expect(limits.take(kept, 1, 0).ok).toBe(false)
  expect(limits.take(gone, 1, 0).ok).toBe(true)
})

test('a clock that goes back gives nothing away', () => {
  const limits = new RateLimits()
  const key = keyOf(1, undefined)
  expect(limits.take(key, 1, 100_000).ok).toBe(true)
  expect(limits.take(key, 1, 0).ok).toBe(false)
  expect(limits.take(key, 1, 100_000).ok).toBe(false)
  expect(limits.take(key, 1, 160_000).ok).toBe(true)
})

const arrivals = fc.array(
  fc.record({ after: fc.integer({ min: 0, max: 30_000 }), tokens: fc.integer({ min: 1, max: 400 }) }),
  { minLength: 1, maxLength: 60 },
)

test('never more than the burst and what flowed in since goes through, but for one prompt that is too large', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 20 }),
      fc.integer({ min: 50, max: 200 }),
      arrivals,
      (rate, tokenRate, all) => {
        const limits = new RateLimits()
        const key = keyOf(rate, tokenRate)
        let [now, requests, tokens, largest] = [0, 0, 0, 0]
        for (const { after, tokens: wanted } of all) {
          now += after
          if (!limits.take(key, wanted, now).ok) continue
          requests += 1
          tokens += wanted
          largest = Math.max(largest, wanted)
          expect(requests).toBeLessThanOrEqual(rate * (1 + now / 60_000) + 1e-2)
          expect(tokens).toBeLessThanOrEqual(tokenRate * (1 + now / 60_000) + Math.max(0, largest - tokenRate) + 1e-2)
        }
      },
    ),
  )
})

test('who comes back when told is let in', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 20 }),
      fc.integer({ min: 50, max: 200 }),
      arrivals,
      (rate, tokenRate, all) => {
        const limits = new RateLimits()
        const key = keyOf(rate, tokenRate)
        let now = 0
        for (const { after, tokens } of all) {
          now += after
          const decision = limits.take(key, tokens, now)
          if (decision.ok) continue
          expect(decision.retryAfterSeconds).toBeGreaterThanOrEqual(1)
          now += decision.retryAfterSeconds * 1000
          expect(limits.take(key, tokens, now)).toEqual({ ok: true })
        }
      },
    ),
  )
})

test('what other proxies used counts as of then, and what was used here is told once', () => {
  const [here, there] = [new RateLimits(), new RateLimits()]
  const key = keyOf(10, 100)
  for (let i = 0; i < 6; i++) here.take(key, 10, 0)
  here.settle(key, 10, 30)
  const news = here.takeNews()
  expect([...news]).toEqual([[key.id, { requests: 6, tokens: 80 }]])
  expect(here.takeNews().size).toBe(0)
  there.adopt(key, news.get(key.id)!, 100)
  expect(there.take(key, 20, 100)).toEqual({ ok: true })
  expect(there.take(key, 1, 100)).toEqual(here.take(key, 21, 100))
  // half a minute later, half of the limit has come back
  expect(there.take(key, 50, 30_100)).toEqual({ ok: true })
  // a debt that both have incurred is paid off before the next
  there.adopt(key, { requests: 12, tokens: 0 }, 30_100)
  expect(there.look(key, 1, 30_100)).toEqual({ ok: false, retryAfterSeconds: 36 })
})
