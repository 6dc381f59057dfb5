import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ProxyError } from '../common/errors.ts'
import { ApiKeys } from './api-keys.ts'
import { hashOf } from './hash-key.ts'
import { readPeers, Tenancy, tenantName } from './tenancy.ts'

const open = new ApiKeys(undefined)
const keys = new ApiKeys([
  { tenant: 'acme', name: 'one', sha256: hashOf('sk-1').toString('hex') },
  { tenant: 'acme', name: 'two', sha256: hashOf('sk-2').toString('hex') },
])

function from(remoteAddress: string | undefined, headers: IncomingHttpHeaders): Parameters<Tenancy['identify']>[0] {
  return { headers, socket: { remoteAddress } as IncomingMessage['socket'] }
}

function refusal(headers: IncomingHttpHeaders): ProxyError {
  try {
    new Tenancy({ keys, trustedPeers: ['10.0.0.0/8'] }).identify(from('10.0.0.1', headers))
  } catch (error) {
    if (error instanceof ProxyError) return error
  }
  throw new Error('was let in')
}

test('keys of one tenant share it, whichever way they are shown', () => {
  const tenancy = new Tenancy({ keys, trustedPeers: [] })
  for (const headers of [
    { authorization: 'Bearer sk-1' },
    { authorization: 'bearer  sk-2 ' },
    { 'x-api-key': 'sk-1' },
    { authorization: 'Bearer of something else', 'x-api-key': 'sk-1' },
    { authorization: 'Basic eDp5', 'x-api-key': 'sk-2' },
  ])
    expect(tenancy.identify(from('192.0.2.1', headers)).tenant).toBe('key:acme')
  expect(tenancy.identify(from('192.0.2.1', { 'x-api-key': 'sk-2' })).key?.name).toBe('two')
})

test('without a valid key no one comes in, not even a trusted peer', () => {
  const named = { 'x-reprise-tenant': 'acme' }
  expect(refusal(named)).toMatchObject({ code: 'unauthorized', status: 401, headers: { 'www-authenticate': 'Bearer' } })
  expect(refusal({}).message).toMatch(/^An API key is needed/)
  for (const wrong of [{ authorization: 'Bearer sk-3' }, { authorization: 'sk-1' }, { 'x-api-key': 'Bearer sk-1' }])
    expect(refusal({ ...named, ...wrong }).code).toBe('unauthorized')
  expect(refusal({ 'x-api-key': 'sk-3' }).message).not.toContain('sk-3')
})

test('the control plane asks about a tenant without its key, or by it', () => {
  const tenancy = new Tenancy({ keys, trustedPeers: ['127.0.0.1'] })
  expect(tenancy.suppose(from('192.0.2.1', {}))).toEqual({ tenant: 'default', key: undefined })
  expect(tenancy.suppose(from('192.0.2.1', { authorization: 'Bearer admin', 'x-api-key': 'sk-1' })).tenant).toBe(
    'key:acme',
  )
  expect(tenancy.suppose(from('127.0.0.1', { 'x-reprise-tenant': 't' })).tenant).toBe('header:t')
  // its own bearer is the admin token
  const admin = { authorization: 'Bearer admin' }
  expect(tenancy.suppose(from('192.0.2.1', { ...admin, 'x-reprise-tenant': 'acme' })).tenant).toBe('key:acme')
  expect(tenancy.suppose(from('192.0.2.1', { ...admin, 'x-reprise-key': 'sk-2' })).tenant).toBe('key:acme')
})

test('a key that the control plane asks about has to be one, where keys are configured', () => {
  const tenancy = new Tenancy({ keys, trustedPeers: [] })
  const ask = (): unknown => tenancy.suppose(from('127.0.0.1', { 'x-reprise-key': 'sk-9' }))
  expect(ask).toThrowError(expect.objectContaining({ code: 'invalid_body' }))
  expect(ask).toThrowError(/x-reprise-key is no API key that is known here/)
  expect(ask).not.toThrowError(/sk-9/)
})

test('the control plane asks about whoever shows any bearer, where no keys are configured', () => {
  const tenancy = new Tenancy({ keys: open, trustedPeers: [] })
  const app = tenancy.identify(from('192.0.2.1', { authorization: 'Bearer appkey' }))
  expect(tenancy.suppose(from('127.0.0.1', { authorization: 'Bearer admin', 'x-reprise-key': 'appkey' }))).toEqual(app)
})

test('the control plane asks about a tenant by the name that logs give it', () => {
  const tenancy = new Tenancy({ keys: open, trustedPeers: ['10.0.0.1'] })
  const callers = [
    from('192.0.2.1', { authorization: 'Bearer appkey' }),
    from('192.0.2.1', {}),
    from('10.0.0.1', { 'x-reprise-tenant': 'team' }),
  ].map((incoming) => tenancy.identify(incoming))
  const asked = callers.map(({ tenant }) => from('127.0.0.1', { 'x-reprise-tenant': tenantName(tenant) }))
  // the control plane is no gateway
  expect(asked.map((incoming) => tenancy.suppose(incoming))).toEqual(
    callers.map(({ tenant, key }) => ({ tenant, key })),
  )
  const stranger = new Tenancy({ keys: open, trustedPeers: [] })
  expect(stranger.suppose(asked[0]!).tenant).toMatch(/^header:/)
})

test('tenants are told apart by the header alone, or not at all, where that is configured', () => {
  const shown = { authorization: 'Bearer x', 'x-reprise-tenant': 't' }
  const tenantsOf = (source: 'header' | 'none', own = open): string[] => {
    const tenancy = new Tenancy({ keys: own, trustedPeers: ['10.0.0.1'], from: source })
    const bearer = { ...shown, authorization: 'Bearer sk-1' }
    return ['10.0.0.1', '10.0.0.2'].map((address) => tenancy.identify(from(address, bearer)).tenant)
  }
  expect(tenantsOf('header')).toEqual(['header:t', 'default'])
  expect(tenantsOf('header', keys)).toEqual(['header:t', 'key:acme'])
  expect(tenantsOf('none')).toEqual(['default', 'default'])
  expect(tenantsOf('none', keys)).toEqual(['default', 'default'])
})

test('only trusted peers name the tenant', () => {
  const tenancy = new Tenancy({ keys, trustedPeers: ['10.0.0.0/8', '::1', 'fd00::/8'] })
  const headers = { authorization: 'Bearer sk-1', 'x-reprise-tenant': 'user 7' }
  for (const address of ['10.1.2.3', '::ffff:10.1.2.3', '::1', 'fd12::1', 'fd12::1%eth0'])
    expect(tenancy.identify(from(address, headers)).tenant).toBe('header:user 7')
  for (const address of ['11.0.0.1', '::ffff:11.0.0.1', '::2', 'fe80::1', undefined, ''])
    expect(tenancy.identify(from(address, headers)).tenant).toBe('key:acme')
  expect(tenancy.identify(from('10.1.2.3', { ...headers, 'x-reprise-tenant': '' })).tenant).toBe('key:acme')
})

test('without keys the tenant is a hash of what was shown, and the header counts from trusted peers alone', () => {
  const tenancy = new Tenancy({ keys: open, trustedPeers: ['127.0.0.1'] })
  const shown = { authorization: 'Bearer x', 'x-reprise-tenant': 't' }
  expect(tenancy.identify(from('127.0.0.1', shown))).toEqual({
    tenant: 'header:t',
    key: undefined,
    isTrusted: true,
  })
  expect(tenancy.identify(from('127.0.0.2', shown))).not.toHaveProperty('isTrusted')
  expect(tenancy.identify(from('127.0.0.2', shown)).tenant).toBe(
    tenancy.identify(from('127.0.0.2', { authorization: 'Bearer x' })).tenant,
  )
  expect(tenancy.identify(from('127.0.0.2', {})).tenant).toBe('default')
})

test('names of different origin never make one tenant', () => {
  const tenancy = new Tenancy({ keys: open, trustedPeers: ['127.0.0.1'] })
  const check = (named: string, shown: string): void => {
    const byHeader = tenancy.identify(from('127.0.0.1', { 'x-reprise-tenant': named })).tenant
    const byHash = tenancy.identify(from('127.0.0.1', { authorization: shown })).tenant
    const byKey = new Tenancy({
      keys: new ApiKeys([{ tenant: named, sha256: hashOf('k').toString('hex') }]),
      trustedPeers: [],
    }).identify(from('127.0.0.1', { 'x-api-key': 'k' })).tenant
    expect(new Set([byHeader, byHash, byKey, 'default']).size).toBe(shown === '' ? 3 : 4)
  }
  fc.assert(fc.property(fc.string({ minLength: 1, maxLength: 200 }), fc.string(), check))
})

test('a name without end is refused', () => {
  const tenancy = new Tenancy({ keys: open, trustedPeers: ['127.0.0.1'] })
  expect(() => tenancy.identify(from('127.0.0.1', { 'x-reprise-tenant': 'x'.repeat(257) }))).toThrow(/257 characters/)
})

test.each(['10.0.0.0/33', '::/129', 'gateway', '10.0.0', '10.0.0.0/', '10.0.0.0/x', '', '10.0.0.0/8/8'])(
  'what is no address and no range is an error: %j',
  (range) => {
    expect(() => readPeers([range])).toThrow(/neither an address nor a range/)
  },
)

test('a range of everything is every address of its kind', () => {
  const peers = readPeers(['0.0.0.0/0'])
  expect([peers('8.8.8.8'), peers('::ffff:8.8.8.8'), peers('2001:db8::1')]).toEqual([true, true, false])
})
