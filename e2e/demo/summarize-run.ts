import { percentile } from '#tools/replay/report/replay-report.ts'
import type { Run } from './run-requests.ts'

/** A run in figures; every field is measured, and token counts are the engine's own. */
export interface RunSummary {
  readonly requests: number
  readonly failed: number
  readonly prompt_tokens: number
  readonly cached_tokens: number
  /** neither cached nor reused */
  readonly computed_tokens: number
  readonly hit_ratio: number
  readonly reused_tokens: number
  readonly ttft_p50_ms: number
  readonly ttft_p95_ms: number
  readonly seconds: number
  /** From the proxy's response headers; null in a direct run. */
  readonly blocks: BlockCounts | null
}

export interface BlockCounts {
  readonly found: number
  readonly moved: number
  readonly deduplicated: number
  /** Number of requests left unchanged by the proxy, per reason. */
  readonly skipped: Readonly<Record<string, number>>
}

export function summarizeRun(run: Run): RunSummary {
  const promptTokens = sum(run.outcomes.map((outcome) => outcome.promptTokens))
  const cachedTokens = sum(run.outcomes.map((outcome) => outcome.cachedTokens))
  const reusedTokens = sum(run.outcomes.map((outcome) => outcome.reusedTokens))
  const firstTokens = run.outcomes.map((outcome) => outcome.firstTokenMs)
  return {
    requests: run.outcomes.length,
    failed: run.failures.length,
    prompt_tokens: promptTokens,
    cached_tokens: cachedTokens,
    computed_tokens: promptTokens - cachedTokens - reusedTokens,
    hit_ratio: promptTokens === 0 ? 0 : cachedTokens / promptTokens,
    reused_tokens: reusedTokens,
    ttft_p50_ms: percentile(firstTokens, 0.5),
    ttft_p95_ms: percentile(firstTokens, 0.95),
    seconds: run.seconds,
    blocks: countBlocks(run),
  }
}

function countBlocks(run: Run): BlockCounts | null {
  const reports = run.outcomes.flatMap((outcome) => outcome.proxy ?? [])
  if (reports.length === 0) return null
  const skipped: Record<string, number> = {}
  for (const report of reports) {
    if (report.skipped !== undefined) skipped[report.skipped] = (skipped[report.skipped] ?? 0) + 1
  }
  return {
    found: sum(reports.map((report) => report.blocks)),
    moved: sum(reports.map((report) => report.moved)),
    deduplicated: sum(reports.map((report) => report.deduplicated)),
    skipped,
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
