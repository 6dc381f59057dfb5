import { expect, test } from 'vitest'
import type { DoctorReport, Finding } from './finding.ts'
import { renderReport } from './render-report.ts'

function report(findings: Finding[]): DoctorReport {
  const count = (level: string): number => findings.filter((finding) => finding.level === level).length
  return { engine: 'http://e:8000', kind: 'vllm', fatal: count('fatal'), warnings: count('warning'), findings }
}

test('every finding is a row with its fix, and the last line sums up', () => {
  const text = renderReport(
    report([
      { check: 'engine', level: 'ok', found: 'answers' },
      { check: 'page_size', level: 'warning', found: 'large', fix: 'make it small' },
      { check: 'prefix_caching', level: 'fatal', found: 'off', fix: 'switch it on' },
    ]),
    100,
  )
  expect(text).toMatch(/warning\s+│ page size\s+│ large/)
  expect(text).toMatch(/│ → switch it on/)
  expect(text.trimEnd().split('\n').at(-1)).toContain('1 fatal, 1 warning:')
})

test.each([60, 100, 200])('no line is wider than a terminal of %i columns', (columns) => {
  const long: Finding = { check: 'volatile_text', level: 'warning', found: 'word '.repeat(80), fix: 'x'.repeat(300) }
  const lines = renderReport(report([long]), columns).split('\n')
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(Math.max(columns, 75))
})

test('a report without faults says so', () => {
  expect(renderReport(report([{ check: 'engine', level: 'ok', found: 'answers' }]), 80)).toContain('nothing to mend')
})
