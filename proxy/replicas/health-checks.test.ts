import { getEventListeners } from 'node:events'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { EngineClient } from '#engine-adapters/engine-client.ts'
import { checkHealth, type HealthCheckOptions } from './health-checks.ts'

type Handler = Parameters<EngineClient['send']>[1]

let now = 0

/** An engine that answers checks with `answer`; `asked`: when it was asked. */
class EngineDouble implements EngineClient {
  readonly url = 'http://engine'
  readonly asked: number[] = []
  readonly noted: boolean[] = []
  readonly health = { note: (isAlive: boolean): void => void this.noted.push(isAlive) }
  answer: number | 'refuse' | 'hang' | 'EMFILE' = 200
  aborted = 0

  get engine(): EngineClient {
    return this
  }

  get aside(): EngineClient {
    return this
  }

  send(_request: unknown, handler: Handler): void {
    this.asked.push(now)
    const controller = { abort: () => this.aborted++ } as never
    if (this.answer === 'refuse' || this.answer === 'EMFILE') {
      handler.onResponseError?.(controller, Object.assign(new Error('not connected'), { code: this.answer }))
      return
    }
    handler.onRequestStart?.(controller, {})
    if (this.answer === 'hang') return
    handler.onResponseStart?.(controller, this.answer, {})
    handler.onResponseEnd?.(controller, {})
  }

  setTls(): void {}

  close(): Promise<void> {
    return Promise.resolve()
  }
}

interface Checks {
  readonly tick: (now: number) => void
  close(): void
}

function checksOf(targets: () => readonly EngineDouble[], options: HealthCheckOptions): Checks {
  const closing = new AbortController()
  return { tick: checkHealth(targets, options, closing.signal), close: () => closing.abort() }
}

/** Lets time pass, with a tick each millisecond. */
async function pass(checks: Checks, milliseconds: number): Promise<void> {
  for (const end = now + milliseconds; now < end; ) {
    now += 1
    checks.tick(now)
    await vi.advanceTimersByTimeAsync(1)
  }
}

beforeEach(() => {
  now = 0
  vi.useFakeTimers()
})

afterEach(() => {
  vi.useRealTimers()
})

test('replicas are checked at an interval, one after the other within it', async () => {
  const engines = [new EngineDouble(), new EngineDouble()]
  const checks = checksOf(() => engines, {
    intervalMilliseconds: 100,
    timeoutMilliseconds: 50,
  })
  await pass(checks, 310)
  checks.close()
  expect(engines.map(({ asked }) => asked)).toEqual([
    [1, 101, 201, 301],
    [51, 151, 251],
  ])
  expect(vi.getTimerCount()).toBe(0)
})

test('any answer below 500 is a sign of life; errors, refusals and silence are none', async () => {
  const engine = new EngineDouble()
  const checks = checksOf(() => [engine], {
    intervalMilliseconds: 100,
    timeoutMilliseconds: 20,
  })
  await pass(checks, 50)
  for (const answer of [404, 401, 500, 503, 'refuse', 'hang', 204] as const) {
    engine.answer = answer
    await pass(checks, 100)
  }
  checks.close()
  expect(engine.noted).toEqual([true, true, true, false, false, false, false, true])
  expect(engine.aborted).toBe(1)
})

test('checks of many silent engines wait for one end, which breaks all of them off', async () => {
  const engines = Array.from({ length: 20 }, () => Object.assign(new EngineDouble(), { answer: 'hang' as const }))
  const closing = new AbortController()
  const options = { intervalMilliseconds: 20, timeoutMilliseconds: 1_000 }
  await pass({ tick: checkHealth(() => engines, options, closing.signal), close: () => {} }, 30)
  // Node warns of more than ten
  expect(getEventListeners(closing.signal, 'abort')).toHaveLength(1)
  closing.abort()
  await vi.advanceTimersByTimeAsync(1)
  expect(engines.map(({ aborted }) => aborted)).toEqual(engines.map(() => 1))
})

test('a check that found no file descriptor left in the proxy tells nothing of the engine', async () => {
  const engine = new EngineDouble()
  engine.answer = 'EMFILE'
  const checks = checksOf(() => [engine], { intervalMilliseconds: 100, timeoutMilliseconds: 20 })
  await pass(checks, 50)
  checks.close()
  expect([engine.asked.length, engine.noted]).toEqual([1, []])
})

test('a check that is under way when they are closed is broken off and tells nothing', async () => {
  const engine = new EngineDouble()
  engine.answer = 'hang'
  const checks = checksOf(() => [engine], {
    intervalMilliseconds: 100,
    timeoutMilliseconds: 50,
  })
  await pass(checks, 10)
  checks.close()
  await vi.advanceTimersByTimeAsync(500)
  expect([engine.asked.length, engine.aborted, engine.noted.length]).toEqual([1, 1, 0])
})

test('without an interval nothing is checked', async () => {
  const engine = new EngineDouble()
  const checks = checksOf(() => [engine], { intervalMilliseconds: 0, timeoutMilliseconds: 50 })
  await pass(checks, 10)
  checks.close()
  expect(engine.asked).toEqual([])
})

test('a check that takes longer than the interval puts off the next', async () => {
  const engine = new EngineDouble()
  engine.answer = 'hang'
  const checks = checksOf(() => [engine], {
    intervalMilliseconds: 100,
    timeoutMilliseconds: 250,
  })
  await pass(checks, 510)
  checks.close()
  expect(engine.asked).toEqual([1, 251, 501])
})
