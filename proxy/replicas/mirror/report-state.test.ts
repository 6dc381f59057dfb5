import { expect, test } from 'vitest'
import { ReportState } from './report-state.ts'

/** Reports of which the last came at a time, and said that all is known, or that something is missing. */
function heardAt(now: number, mode: 'exact' | 'degraded' = 'exact'): ReportState {
  const reports = new ReportState()
  reports.heard(now)
  reports.beginLife('g')
  reports.took(1)
  if (mode === 'degraded') reports.refuse({ generation: 'g', sequence: 5, events: [] })
  return reports
}

test('three seconds of silence are late, a minute is none at all; the next report counts again', () => {
  const reports = heardAt(1000)
  const modes = [1000, 4000, 4001, 61_000, 61_001].map((now) => reports.modeAt(now))
  expect(modes).toEqual(['exact', 'exact', 'degraded', 'degraded', 'fallback'])
  reports.heard(70_000)
  expect(reports.modeAt(70_000)).toBe('exact')
})

test('nothing becomes better by silence', () => {
  expect([0, 5000].map((now) => heardAt(0, 'degraded').modeAt(now))).toEqual(['degraded', 'degraded'])
  const reports = new ReportState()
  reports.heard(0)
  expect([0, 5000, 100_000].map((now) => reports.modeAt(now))).toEqual(['fallback', 'fallback', 'fallback'])
})

test('a report that is being read is a sign of life, however long it takes; so is its end, if it comes to nothing', async () => {
  const reports = heardAt(0)
  let now = 1000
  let reject = (_error: Error): void => {}
  const promise = new Promise((_resolve, toReject) => {
    reject = toReject
  })
  reports.hears(promise, () => now)
  expect(reports.modeAt(50_000)).toBe('exact')
  now = 50_000
  reject(new Error('the sender left'))
  await promise.catch(() => {})
  expect(reports.modeAt(53_000)).toBe('exact')
  expect(reports.modeAt(53_001)).toBe('degraded')
})
