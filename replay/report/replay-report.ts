import type { EvictionName } from '../cache/eviction/eviction-names.ts'
import type { HostFigures } from '../cache/host-tier.ts'
import type { PolicyName } from '../policies/policy-names.ts'
import type { ReplayMode } from '../replay-options.ts'
import { bytesPerToken } from '../run/latency-model.ts'
import type { ReplayRun } from '../run/replay-run.ts'
import { percentile } from './percentile.ts'

/** The results of one policy. */
export interface PolicyReport {
  readonly policy: PolicyName
  readonly hit_ratio: number
  readonly cached_tokens: number
  readonly prompt_tokens: number
  readonly p50_us: number
  readonly p99_us: number
  readonly seconds: number
  /** present if evictions were requested */
  readonly eviction?: EvictionName
  /** present if evictions were requested: modelled mean wait per request */
  readonly wait_ms?: number
  /** present if there is a host behind the cache */
  readonly host?: HostReport
}

/**
 * Tokens found on the host, moved to it, loaded from it for a request or promoted in advance, and total bytes moved.
 */
interface HostReport {
  readonly found_tokens: number
  readonly offloaded_tokens: number
  readonly loaded_tokens: number
  readonly promoted_tokens: number
  readonly moved_bytes: number
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

/** Builds the report of a run. */
export function toPolicyReport(run: ReplayRun, eviction?: EvictionName): PolicyReport {
  return {
    policy: run.policy,
    hit_ratio: toRatio(run.cachedTokens, run.promptTokens),
    cached_tokens: run.cachedTokens,
    prompt_tokens: run.promptTokens,
    p50_us: percentile(run.microseconds, 0.5),
    p99_us: percentile(run.microseconds, 0.99),
    seconds: run.seconds,
    ...(eviction ? { eviction, wait_ms: (1000 * run.waitSeconds) / Math.max(1, run.sent.length) } : {}),
    ...(run.hostFigures ? { host: toHostReport(run.hostFigures) } : {}),
  }
}

function toHostReport({ found, offloaded, loaded, promoted }: HostFigures): HostReport {
  return {
    found_tokens: found,
    offloaded_tokens: offloaded,
    loaded_tokens: loaded,
    promoted_tokens: promoted,
    moved_bytes: (offloaded + loaded + promoted) * bytesPerToken,
  }
}

/** Builds the row for the bound. It orders nothing, so its times are 0. */
export function toBoundReport(seenTokens: number, promptTokens: number): PolicyReport {
  return {
    policy: 'bound',
    hit_ratio: toRatio(seenTokens, promptTokens),
    cached_tokens: seenTokens,
    prompt_tokens: promptTokens,
    p50_us: 0,
    p99_us: 0,
    seconds: 0,
  }
}

export function toRatio(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole
}
