import { expect, test } from 'vitest'
import { subtractGain } from './read-gain.ts'
import { renderReport, toJsonReport } from './report.ts'
import { summarizeRun } from './summarize-run.ts'

const run = summarizeRun({ outcomes: [], failures: [], seconds: 1 } as never)
const gainOf = (n: number) => ({
  requests: n,
  prompt_tokens: 1_000 * n,
  without_tokens: 100 * n,
  with_tokens: 300 * n,
  possible_tokens: 600 * n,
})
const report = {
  workload: 'some',
  engine: 'an engine',
  model: { name: 'm', positions: 8_192 },
  fitted: { turns: [], shortened: 0, leftOut: 0 },
  warm_up: 7,
  comparison: { direct: run, reprise: run },
  gain: subtractGain(gainOf(15), gainOf(5)),
  seen_before: 0.625,
}

test('a report tells the bound, and what was cached without reprise, with it, and possible', () => {
  const text = renderReport(report as never)
  expect(text).toContain('some: 0 requests after 7 to warm up, an engine')
  expect(text).toContain('Bound: 62.5 % of the prompts had been sent before')
  expect(text).toContain('without reprise 1,000 (10.0 %), with it 3,000 (30.0 %), possible 6,000 (60.0 %)')
  expect(JSON.parse(toJsonReport(report as never))).toMatchObject({ gain: { requests: 10 }, seen_before: 0.625 })
})
