import type { IncomingMessage, ServerResponse } from 'node:http'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { watchBody } from './read-body.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

/** A body that is watched for 30 s at a time, and what it was given up for. */
function watch(changes: object = {}, milliseconds = 30_000) {
  const socket = { bytesRead: 500 }
  const incoming = {
    headers: { 'content-length': '1000000' },
    socket,
    complete: false,
    destroyed: false,
    readableFlowing: true,
  }
  Object.assign(incoming, changes)
  const outgoing = { headersSent: false }
  const faults: string[] = []
  const exchange = { incoming: incoming as unknown as IncomingMessage, outgoing: outgoing as ServerResponse }
  const stop = watchBody(exchange, milliseconds, ({ code }) => faults.push(code))
  /** Lets this much of the body arrive every second. */
  const arrive = (bytesPerSecond: number, seconds: number): void => {
    for (let i = 0; i < seconds; i++) {
      socket.bytesRead += bytesPerSecond
      vi.advanceTimersByTime(1_000)
    }
  }
  return { incoming, outgoing, faults, stop, arrive }
}

test('a body that drips is given up once, after the time', () => {
  const { faults, arrive } = watch()
  arrive(100, 29)
  expect(faults).toEqual([])
  arrive(100, 60)
  expect(faults).toEqual(['body_too_slow'])
  expect(vi.getTimerCount()).toBe(0)
})

test('one that came fast is given up, too, when it begins to drip', () => {
  const { faults, arrive } = watch()
  arrive(1_000_000, 60)
  arrive(100, 31)
  expect(faults).toEqual(['body_too_slow'])
})

test('a slow line is waited for as long as it takes', () => {
  const { faults, arrive } = watch()
  arrive(1_000, 1_000)
  expect(faults).toEqual([])
})

test('time in which the body is not read does not count', () => {
  const { incoming, faults, arrive } = watch()
  incoming.readableFlowing = false
  arrive(0, 500)
  incoming.readableFlowing = true
  arrive(0, 29)
  expect(faults).toEqual([])
  arrive(0, 1)
  expect(faults).toEqual(['body_too_slow'])
})

test.each(['complete', 'destroyed'] as const)('a body that is %s is watched no more', (state) => {
  const { incoming, faults, arrive } = watch()
  arrive(0, 10)
  incoming[state] = true
  arrive(0, 60)
  expect(faults).toEqual([])
  expect(vi.getTimerCount()).toBe(0)
})

test('nor is one whose answer has begun, or whose request has ended', () => {
  const [answered, ended] = [watch(), watch()]
  answered.outgoing.headersSent = true
  ended.stop()
  answered.arrive(0, 60)
  expect([...answered.faults, ...ended.faults]).toEqual([])
  expect(vi.getTimerCount()).toBe(0)
})

test('a request without a body is not watched, and none where the time is 0', () => {
  watch({ headers: {} })
  watch({ headers: { 'content-length': '0' } })
  watch({}, 0)
  expect(vi.getTimerCount()).toBe(0)
  watch({ headers: { 'transfer-encoding': 'chunked' } })
  expect(vi.getTimerCount()).toBe(1)
})
