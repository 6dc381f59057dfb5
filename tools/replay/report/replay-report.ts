import Table from 'cli-table3'
import type { ReplayMode } from '../replay-options.ts'
import type { ReplayRun } from '../run/replay-trace.ts'

/** The results of one policy. */
interface PolicyReport {
  readonly policy: string
  readonly hit_ratio: number
  readonly cached_tokens: number
  readonly prompt_tokens: number
  readonly p50_us: number
  readonly p99_us: number
  readonly seconds: number
}

/** What `reprise replay --json` prints. */
export interface ReplayReport {
  readonly trace: string
  readonly requests: number
  readonly mode: ReplayMode
  /** null: unlimited */
  readonly capacity_tokens: number | null
  readonly bound: number
  readonly policies: readonly PolicyReport[]
}

/** Reports what a run came to; the bound, which orders nothing, takes no time. */
export function toPolicyReport({
  policy,
  cachedTokens,
  promptTokens,
  microseconds = [],
  seconds = 0,
}: Pick<ReplayRun, 'policy' | 'cachedTokens' | 'promptTokens'> & Partial<ReplayRun>): PolicyReport {
  return {
    policy,
    hit_ratio: toRatio(cachedTokens, promptTokens),
    cached_tokens: cachedTokens,
    prompt_tokens: promptTokens,
    p50_us: percentile(microseconds, 0.5),
    p99_us: percentile(microseconds, 0.99),
    seconds,
  }
}

export function toRatio(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole
}

/** Yields a line for each request of a run, in execution order, with its block ids in the order sent. */
export function* renderOrders({ policy, sent }: ReplayRun): Generator<string> {
  for (const { request, order } of sent) {
    const blocks = order.map((place) => request.trace.blocks[place]!.id)
    yield `${JSON.stringify({ policy, query_id: request.trace.queryId, blocks })}\n`
  }
}

/** Returns the smallest value that at least this share of the values do not exceed; 0 without values. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0
}

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
