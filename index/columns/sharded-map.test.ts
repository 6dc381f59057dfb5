import { expect, test } from 'vitest'
import { ShardedMap } from './sharded-map.ts'

test('a map of very many is one of few: each is found, replaced and taken out', () => {
  const map = new ShardedMap<string, number>()
  const count = 100_000
  for (let i = 0; i < count; i++) map.set(`request-${i}`, i)
  expect(map.size).toBe(count)
  for (let i = 0; i < count; i += 2) map.set(`request-${i}`, -i)
  for (let i = 0; i < count; i += 3) expect(map.delete(`request-${i}`)).toBe(true)
  expect(map.delete('request-0')).toBe(false)
  for (let i = 0; i < count; i++) {
    const value = i % 3 === 0 ? undefined : i % 2 === 0 ? -i : i
    if (map.get(`request-${i}`) !== value) expect.fail(`${i}: ${map.get(`request-${i}`)}`)
  }
  expect([map.size, [...map.keys()].length, map.has('request-1'), map.has('request-3')]).toEqual([
    count - Math.ceil(count / 3),
    map.size,
    true,
    false,
  ])
  map.clear()
  expect([map.size, map.get('request-1')]).toEqual([0, undefined])
})
