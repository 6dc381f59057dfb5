import fc from 'fast-check'
import { beforeEach, expect, test } from 'vitest'
import type { EngineClient } from '#engine-adapters/engine-client.ts'
import { UnreachableError } from '../common/errors.ts'
import { CircuitBreaker } from './circuit-breaker.ts'

let now = 0
let breaker: CircuitBreaker

beforeEach(() => {
  now = 0
  breaker = create()
})

function create(): CircuitBreaker {
  return new CircuitBreaker({ failuresInARow: 3, openMilliseconds: 100 }, () => now)
}

function fail(times: number): void {
  for (let i = 0; i < times; i++) breaker.unreachable()
}

test('opens after so many failures in a row, and an answer in between begins a new row', () => {
  fail(2)
  breaker.answered(200)
  fail(2)
  expect([breaker.state, breaker.isPassable]).toEqual(['closed', true])
  fail(1)
  expect([breaker.state, breaker.isPassable]).toEqual(['open', false])
})

test('a proxy without file descriptors says nothing of the engine', () => {
  const fault = (code: string): UnreachableError =>
    new UnreachableError({ url: 'http://e' } as EngineClient, Object.assign(new Error(code), { code }), false)
  for (let i = 0; i < 5; i++) breaker.failed(fault('EMFILE'))
  expect(breaker.state).toBe('closed')
  for (let i = 0; i < 5; i++) breaker.failed(fault('ECONNREFUSED'))
  expect(breaker.state).toBe('open')
})

test('errors that the engine answers with say that it is there', () => {
  for (let i = 0; i < 50; i++) for (const status of [400, 401, 404, 429, 500, 501]) breaker.answered(status)
  expect(breaker.state).toBe('closed')
})

test.each([502, 503, 504])(
  'an engine that answers nothing but %d is not ready, one that answers others too is full',
  (status) => {
    for (let i = 0; i < 50; i++) {
      breaker.answered(status)
      breaker.answered(status)
      breaker.answered(200)
    }
    expect(breaker.state).toBe('closed')
    for (let i = 0; i < 3; i++) breaker.answered(status)
    expect(breaker.state).toBe('open')
  },
)

test('when it has been open for long enough, one probe is let through', () => {
  fail(3)
  now += 99
  expect(breaker.isPassable).toBe(false)
  now += 1
  expect([breaker.state, breaker.isPassable]).toEqual(['half_open', true])
  breaker.begin()
  expect([breaker.state, breaker.isPassable]).toEqual(['half_open', false])
  breaker.answered(200)
  expect([breaker.state, breaker.isPassable]).toEqual(['closed', true])
})

test('a probe that fails opens it again for as long', () => {
  fail(3)
  now += 100
  breaker.begin()
  breaker.answered(503)
  expect(breaker.state).toBe('open')
  now += 99
  expect(breaker.isPassable).toBe(false)
  now += 1
  expect(breaker.isPassable).toBe(true)
})

test('a probe that is not heard of makes way for another', () => {
  fail(3)
  now += 100
  breaker.begin()
  now += 99
  expect(breaker.isPassable).toBe(false)
  now += 1
  expect(breaker.isPassable).toBe(true)
  breaker.begin()
  expect(breaker.isPassable).toBe(false)
})

test('what was sent before it opened changes nothing: neither its failures nor its answers', () => {
  fail(3)
  now += 60
  fail(10)
  breaker.answered(200)
  expect(breaker.state).toBe('open')
  now += 40
  expect(breaker.state).toBe('half_open')
})

test('once closed again it forgets the failures from before', () => {
  fail(3)
  expect(breaker.state).toBe('open')
  now += 100
  breaker.begin()
  breaker.answered(200)
  fail(2)
  expect(breaker.state).toBe('closed')
})

/** Applies an event to the breaker, and records the times at which probes are sent. */
function act(event: 'unreachable' | 'not ready' | 'answered' | 'send' | 'wait', probes: number[]): void {
  if (event === 'unreachable') breaker.unreachable()
  else if (event === 'not ready') breaker.answered(503)
  else if (event === 'answered') breaker.answered(200)
  else if (event === 'wait') now += 30
  else if (breaker.isPassable) {
    if (breaker.state === 'half_open') probes.push(now)
    breaker.begin()
  }
}

test('until one is answered, no more than one request gets through in the time that it is open', () => {
  const event = fc.constantFrom('unreachable', 'not ready', 'answered', 'send', 'wait')
  fc.assert(
    fc.property(fc.array(event, { maxLength: 80 }), (events) => {
      now = 0
      breaker = create()
      let probes: number[] = []
      for (const event of events) {
        const before = breaker.state
        act(event, probes)
        const [last, previous] = probes.toReversed()
        if (previous !== undefined) expect(last! - previous).toBeGreaterThanOrEqual(100)
        if (before === 'closed' || breaker.state !== 'closed') continue
        // only an answer closes it
        expect(event).toBe('answered')
        probes = []
      }
    }),
    { numRuns: 500 },
  )
})
