import type { IncomingMessage } from 'node:http'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { AdminLog } from './admin-log.ts'

const log = { info: vi.fn(), warn: vi.fn() }

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
  log.info.mockReset()
  log.warn.mockReset()
})

function request(url: string, method = 'GET'): IncomingMessage {
  return { method, url, socket: { remoteAddress: '::ffff:203.0.113.9' } } as unknown as IncomingMessage
}

test('a refused request has a line with its client, method, path and status, without the query', () => {
  new AdminLog(log).refused(request('/v1/index?token=secret', 'DELETE'), 401)
  expect(log.warn.mock.calls).toEqual([
    [{ client: '203.0.113.9', method: 'DELETE', path: '/v1/index', status: 401 }, 'admin request refused'],
  ])
})

test('a flood of refused requests has ten lines a minute, and one that counts the rest', () => {
  const lines = new AdminLog(log)
  const flood = (): void => {
    for (let i = 0; i < 1_000; i++) lines.refused(request('/v1/stats'), 401)
  }
  flood()
  expect(log.warn).toHaveBeenCalledTimes(10)
  vi.advanceTimersByTime(60_000)
  expect(log.warn.mock.calls.slice(10)).toEqual([[{ requests: 990 }, 'more admin requests were refused']])
  flood()
  expect(log.warn).toHaveBeenCalledTimes(21)
})

test('few refused requests have no line that counts more of them', () => {
  new AdminLog(log).refused(request('/v1/stats'), 401)
  vi.advanceTimersByTime(60_000)
  expect(log.warn).toHaveBeenCalledTimes(1)
})

test('a path is cut off where it is too long', () => {
  new AdminLog(log).refused(request(`/${'x'.repeat(10_000)}`), 401)
  expect(log.warn.mock.calls[0]![0].path).toHaveLength(200)
})

test('a change has a line with its client and what it did', () => {
  new AdminLog(log).changed(request('/v1/chunks?tenant=a', 'DELETE'), { forgotten: 3 })
  expect(log.info.mock.calls).toEqual([
    [{ client: '203.0.113.9', method: 'DELETE', path: '/v1/chunks', forgotten: 3 }, 'admin request'],
  ])
})
