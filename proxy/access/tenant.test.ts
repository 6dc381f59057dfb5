import { expect, test } from 'vitest'
import { cacheSaltOf, tenantOf } from './tenancy.ts'

test('the tenant is a hash of the key, never the key', () => {
  const tenant = tenantOf({ authorization: 'Bearer secret' })
  expect(tenant).not.toContain('secret')
  expect(tenantOf({ authorization: 'Bearer secret' })).toBe(tenant)
  expect(tenantOf({ 'x-api-key': 'other' })).not.toBe(tenant)
  expect(tenantOf({})).toBe('default')
})

test('no salt of a client’s own makes the salt of another tenant', () => {
  const salts = [
    cacheSaltOf('a', undefined),
    cacheSaltOf('a', 'b'),
    cacheSaltOf('ab', undefined),
    cacheSaltOf('a', '1:b'),
    cacheSaltOf('a', cacheSaltOf('ab', undefined)),
  ]
  expect(new Set(salts).size).toBe(salts.length)
  expect(cacheSaltOf('a', 'b', 'secret')).not.toBe(cacheSaltOf('a', 'b', 'other'))
  expect(cacheSaltOf('a', 'b', 'secret')).toBe(cacheSaltOf('a', 'b', 'secret'))
  expect(cacheSaltOf('a', 7)).toBe(cacheSaltOf('a', undefined))
})
