import { expect, test } from 'vitest'
import { ApiKeys } from './api-keys.ts'
import { hashOf } from './hash-key.ts'

function record(key: string, rest: Record<string, unknown> = {}): { tenant: string; sha256: string } {
  return { tenant: `tenant of ${key}`, sha256: hashOf(key).toString('hex'), ...rest }
}

test('a key is found by what was shown, and nothing else is', () => {
  const keys = new ApiKeys([record('a'), record('b'), record('c')])
  expect(keys.find('b')).toMatchObject({ tenant: 'tenant of b', name: 'tenant of b' })
  for (const wrong of ['', 'd', 'B', 'b ', hashOf('b').toString('hex'), undefined])
    expect(keys.find(wrong)).toBeUndefined()
})

test('an entry tells name, limits and priority, and has an id that outlives a reload', () => {
  const keys = new ApiKeys([
    record('a', { name: 'nightly', requests_per_minute: 5, prompt_tokens_per_minute: 7, priority: -1 }),
  ])
  const entry = keys.find('a')
  expect(entry).toMatchObject({
    name: 'nightly',
    tenant: 'tenant of a',
    requestsPerMinute: 5,
    tokensPerMinute: 7,
    countsColdTokens: false,
    priority: -1,
  })
  keys.replace([{ name: 'only a name', sha256: hashOf('a').toString('hex').toUpperCase() }])
  expect(keys.find('a')).toMatchObject({ id: entry!.id, name: 'only a name', tenant: 'only a name' })
})

test('a key ends to be valid at the moment it expires', () => {
  let now = Date.parse('2030-01-30T23:59:59.999Z')
  const keys = new ApiKeys([record('a', { expires: '2030-01-31' })], () => now)
  expect(keys.find('a')).toBeDefined()
  now += 1
  expect(keys.find('a')).toBeUndefined()
})

test('after a reload the keys before are unknown', () => {
  const keys = new ApiKeys([record('a')])
  keys.replace([record('b')])
  expect(keys.find('a')).toBeUndefined()
  expect(keys.find('b')).toBeDefined()
})

test('without keys anyone may come; with an empty list no one', () => {
  expect(new ApiKeys(undefined).isOpen).toBe(true)
  const none = new ApiKeys([])
  expect(none.isOpen).toBe(false)
  expect(none.find('a')).toBeUndefined()
})

test('a caller is let in again with the same key of the same tenant, until it expires or is gone', () => {
  let now = Date.parse('2030-01-01')
  const keys = new ApiKeys([record('a', { expires: '2030-01-31' }), record('b')], () => now)
  const [a, b] = [keys.find('a'), keys.find('b')]
  expect([keys.admits(a), keys.admits(b), keys.admits(undefined)]).toEqual([true, true, false])
  now = Date.parse('2030-02-02')
  expect([keys.admits(a), keys.admits(b)]).toEqual([false, true])
  keys.replace([{ ...record('b'), tenant: 'other' }])
  expect(keys.admits(b)).toBe(false)
  expect(new ApiKeys(undefined).admits(undefined)).toBe(true)
})
