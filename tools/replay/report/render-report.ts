import Table from 'cli-table3'
import type { PolicyReport, ReplayReport } from './replay-report.ts'

/** Renders the report as text for people. */
export function renderReport({ trace, requests, mode, capacity_tokens, bound, policies }: ReplayReport): string {
  const table = new Table({
    head: ['policy', 'hit ratio', 'ratio to rank', 'cached tokens', 'prompt tokens', 'p50', 'p99', 'seconds'],
    colAligns: ['left', 'right', 'right', 'right', 'right', 'right', 'right', 'right'],
    style: { head: [], border: [] },
  })
  const rank = policies.find(({ policy }) => policy === 'rank')
  for (const report of policies) table.push(toRow(report, rank))
  const capacity = capacity_tokens === null ? 'unlimited cache' : `cache of ${toCount(capacity_tokens)} tokens`
  const title = `${trace}: ${toCount(requests)} requests, ${mode}, ${capacity}`
  const last = `bound: ${toPercent(bound)} of the prompt tokens were seen before, at any position`
  return `${title}\n${table.toString()}\n${last}\n`
}

function toRow(report: PolicyReport, rank: PolicyReport | undefined): string[] {
  const { policy, hit_ratio, cached_tokens, prompt_tokens, p50_us, p99_us, seconds } = report
  const times = rank && rank.hit_ratio > 0 ? `${(hit_ratio / rank.hit_ratio).toFixed(2)}×` : '–'
  const counts = [toPercent(hit_ratio), times, toCount(cached_tokens), toCount(prompt_tokens)]
  if (report.policy === 'bound') return [policy, ...counts, '–', '–', '–']
  return [policy, ...counts, toDuration(p50_us), toDuration(p99_us), seconds.toFixed(2)]
}

function toCount(value: number): string {
  return value.toLocaleString('en-US')
}

function toPercent(share: number): string {
  return `${(100 * share).toFixed(1)} %`
}

function toDuration(microseconds: number): string {
  return microseconds < 1000 ? `${microseconds.toFixed(1)} µs` : `${(microseconds / 1000).toFixed(1)} ms`
}
