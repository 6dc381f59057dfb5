import { expect, test } from 'vitest'
import type { DoctorReport, Finding } from './finding.ts'
import { renderReport } from './render-report.ts'

function report(findings: Finding[]): DoctorReport {
  const count = (level: string): number => findings.filter((finding) => finding.level === level).length
  return { engine: 'http://e:8000', kind: 'vllm', fatal: count('fatal'), warnings: count('warning'), findings }
}

test('every finding is a row, every fix a line, and the last line sums up', () => {
  const text = renderReport(
    report([
      { check: 'engine', level: 'ok', found: 'answers' },
      { check: 'page_size', level: 'warning', found: 'large', fix: 'make it small' },
      { check: 'prefix_caching', level: 'fatal', found: 'off', fix: 'switch it on' },
    ]),
    100,
  )
  expect(text).toMatch(/warning\s+│ page size\s+│ large/)
  expect(text).toContain('\n→ page size: make it small\n→ prefix caching: switch it on\n')
  expect(text.trimEnd().split('\n').at(-1)).toContain('1 fatal, 1 warning:')
})

test.each([60, 100, 200])(
  'no line of the table is wider than a terminal of %i columns, and nothing is cut',
  (columns) => {
    const url = `tcp://${'x'.repeat(300)}:5557`
    const long: Finding = {
      check: 'volatile_text',
      level: 'warning',
      found: `${'word '.repeat(80)}${url}`,
      fix: 'see it',
    }
    const text = renderReport(report([long]), columns)
    const rows = text.split('\n').filter((line) => /^[┌├└│]/.test(line))
    expect(Math.max(...rows.map((line) => line.length))).toBeLessThanOrEqual(Math.max(columns, 75))
    expect(text).not.toContain('…')
    expect(rows.map((line) => line.split('│')[3]?.trim() ?? '').join('')).toContain(url)
  },
)

test.each([60, 200])('a fix is one line that can be copied, in a terminal of %i columns too', (columns) => {
  const fix = `start vLLM with --kv-events-config '{"enable_kv_cache_events":true,"publisher":"zmq","endpoint":"tcp://*:5557","replay_endpoint":"tcp://*:5558"}'`
  const text = renderReport(report([{ check: 'events', level: 'warning', found: 'nobody publishes', fix }]), columns)
  expect(text.split('\n')).toContain(`→ events: ${fix}`)
})

test('a report without faults says so', () => {
  expect(renderReport(report([{ check: 'engine', level: 'ok', found: 'answers' }]), 80)).toContain('nothing to mend')
})
