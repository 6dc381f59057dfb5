import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { afterEach, expect, test, vi } from 'vitest'
import type { KeyRecord, KeysConfig } from '../config/config.ts'
import { ProxyError } from '../errors.ts'
import { Access } from './access.ts'
import { hashOf } from './hash-key.ts'
import type { Caller } from './tenancy.ts'

const log = { info: vi.fn(), error: vi.fn() }
const opened: Access[] = []
afterEach(() => {
  for (const access of opened.splice(0)) access.close()
})

let now = 0
function keysConfig(records: KeyRecord[], forwardClientAuthorization = false): KeysConfig {
  return { file: undefined, records, forwardClientAuthorization }
}
function open(keys: KeysConfig, trustedPeers: string[] = []): Access {
  const access = new Access({ keys, trustedPeers }, log, () => now)
  opened.push(access)
  return access
}
function record(key: string, rest: Partial<KeyRecord> = {}): KeyRecord {
  return { tenant: key, sha256: hashOf(key).toString('hex'), ...rest }
}
function identify(access: Access, headers: IncomingHttpHeaders): Caller {
  return access.identify({ headers, socket: { remoteAddress: '127.0.0.1' } as IncomingMessage['socket'] })
}

test('limits are counted per key, corrected by what the engine counts, and end with a time to come back', () => {
  const access = open(keysConfig([record('a', { prompt_tokens_per_minute: 100 }), record('b')]))
  const [a, b] = [identify(access, { 'x-api-key': 'a' }), identify(access, { 'x-api-key': 'b' })]
  access.admit(a, 80)
  access.settle(a, 80, 100)
  for (let i = 0; i < 10; i++) access.admit(b, 1_000_000)
  expect(() => access.admit(a, 50)).toThrow(
    expect.objectContaining({ code: 'rate_limited', status: 429, headers: { 'retry-after': '30' } }) as ProxyError,
  )
  now += 30_000
  access.admit(a, 50)
})

test('callers without a key have no limits', () => {
  const access = open(keysConfig([]))
  const caller = identify(access, { authorization: 'Bearer x' })
  for (let i = 0; i < 100; i++) access.admit(caller, 1_000_000)
  access.settle(caller, 1, 2)
})

test('a reload changes keys, peers and what the engine sees, and limits go on where they were', () => {
  const limited = record('a', { requests_per_minute: 1 })
  const access = open(keysConfig([]))
  const headers = ['authorization', 'Bearer a']
  expect(access.headersForEngine(headers, undefined)).toEqual(headers)
  access.reload({ keys: keysConfig([limited]), trustedPeers: [] })
  expect(access.headersForEngine(headers, undefined)).toEqual([])
  access.admit(identify(access, { authorization: 'Bearer a' }), 1)
  access.reload({ keys: keysConfig([limited, record('b')], true), trustedPeers: ['127.0.0.1'] })
  expect(access.headersForEngine(headers, undefined)).toEqual(headers)
  const caller = identify(access, { authorization: 'Bearer a', 'x-reprise-tenant': 't' })
  expect(caller.tenant).toBe('header:t')
  expect(() => access.admit(caller, 1)).toThrow(ProxyError)
  access.reload({ keys: keysConfig([record('b')]), trustedPeers: [] })
  expect(() => identify(access, { authorization: 'Bearer a' })).toThrow(/not known here/)
})
