import { expect, test } from 'vitest'
import { ReportSilence } from './report-state.ts'

test('three seconds of silence are late, a minute is none at all; the next report counts again', () => {
  const silence = new ReportSilence()
  silence.heard(1000)
  const modes = [1000, 4000, 4001, 61_000, 61_001].map((now) => silence.limit('exact', now))
  expect(modes).toEqual(['exact', 'exact', 'degraded', 'degraded', 'fallback'])
  silence.heard(70_000)
  expect(silence.limit('exact', 70_000)).toBe('exact')
})

test('nothing becomes better by silence', () => {
  const silence = new ReportSilence()
  silence.heard(0)
  expect([0, 5000].map((now) => silence.limit('degraded', now))).toEqual(['degraded', 'degraded'])
  expect([0, 5000, 100_000].map((now) => silence.limit('fallback', now))).toEqual(['fallback', 'fallback', 'fallback'])
})

test('a report that is being read is a sign of life, however long it takes; so is its end, if it comes to nothing', async () => {
  const silence = new ReportSilence()
  silence.heard(0)
  let now = 1000
  let reject = (_error: Error): void => {}
  const promise = new Promise((_resolve, toReject) => {
    reject = toReject
  })
  silence.begin(promise, () => now)
  expect(silence.limit('exact', 50_000)).toBe('exact')
  now = 50_000
  reject(new Error('the sender left'))
  await promise.catch(() => {})
  expect(silence.limit('exact', 53_000)).toBe('exact')
  expect(silence.limit('exact', 53_001)).toBe('degraded')
})
