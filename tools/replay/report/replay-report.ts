import type { ReplayMode } from '../replay-options.ts'
import type { ReplayRun } from '../run/replay-trace.ts'

/** The results of one policy. */
export interface PolicyReport {
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
