import fc from 'fast-check'
import { expect, test } from 'vitest'
import { HealthState } from './health-checks.ts'

test('it takes some checks in a row to change', () => {
  const health = new HealthState()
  const after = (...checks: boolean[]): boolean => {
    for (const isAlive of checks) health.note(isAlive)
    return health.isHealthy
  }
  expect(after()).toBe(true)
  expect(after(false, false, true, false, false)).toBe(true)
  expect(after(false)).toBe(false)
  expect(after(true, false, true)).toBe(false)
  expect(after(true)).toBe(true)
})

test('is what the last run of checks that was long enough said', () => {
  fc.assert(
    fc.property(fc.array(fc.boolean(), { maxLength: 40 }), (checks) => {
      const health = new HealthState()
      for (const isAlive of checks) health.note(isAlive)
      const runs = checks.map((isAlive) => (isAlive ? '+' : '-')).join('')
      expect(health.isHealthy).toBe(runs.lastIndexOf('++') > runs.lastIndexOf('---') || !runs.includes('---'))
    }),
  )
})
