import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { PageUsage } from '#engine-adapters/read-usage.ts'
import { tenantName } from '../access/tenancy.ts'
import type { FailOpenReason, Outcome } from '../common/reasons.ts'
import { tooLarge } from '../http/bounds/work-limits.ts'
import type { Decision } from '../reuse/decision.ts'
import type { RequestRecord } from './access-log.ts'
import type { CallerNames, CallerSums } from './caller-usage.ts'
import { divergentTokens } from './divergence.ts'
import type { Metrics } from './metrics.ts'
import { coldTokens, type ReportedUsage } from './reported-usage.ts'
import type { Telemetry } from './telemetry.ts'
import type { RequestSpan } from './tracing/tracing.ts'

export type DecidedRequest = Pick<
  Decision,
  | ('blocks' | 'moved' | 'deduplicated' | 'skipped' | 'fault' | 'timing' | 'sent')
  | ('predictedCachedTokens' | 'mostPredictedCachedTokens')
>

/** The properties of a request that are reported. */
interface TellingRequest {
  readonly id: string
  readonly model?: string | undefined
  readonly knownChunks?: number
}

/** The outcome of a request in both modes, in tokens of its prompts. */
export interface RequestGain {
  readonly baselineCachedTokens: number
  /** in shadow mode: what it would have found if it had been rewritten */
  readonly shadowCachedTokens: number | undefined
  readonly seenTokens: number
}

/** A request that is also followed in the other mode. */
interface ComparedRequest {
  baselineOf(predictedCachedTokens: number): number | undefined
  counted(usage: ReportedUsage, firstTokenSeconds: number | undefined): void
  readonly figures: RequestGain | undefined
}

/**
 * Records one request on its way. This is the only place where it becomes metrics, a log line and a span. Steps that a
 * request never reaches are left out. No method throws.
 */
export class RequestTelemetry {
  /** trace headers for the engine, replacing the client's; none while tracing is off */
  readonly headers: Readonly<Record<string, string>>
  readonly #to: Telemetry
  readonly #route: string
  readonly #received: number
  readonly #span: RequestSpan | undefined
  readonly #client: string | undefined
  readonly #passed: Pick<IncomingMessage, 'method' | 'url'> | undefined
  #caller: CallerNames | undefined
  #request: TellingRequest | undefined
  /** request id returned in our own error answer, and what failed; undefined if we did not refuse it */
  #refused: { readonly id: string | undefined; readonly reason: string | undefined } | undefined
  #decided: DecidedRequest | undefined
  #decidedAt: number | undefined
  #admitted: { at: number; replica: string; provider: string } | undefined
  #firstByteAt: number | undefined
  #exactlyPredicted: number | undefined
  #usage: ReportedUsage | undefined
  #gain: ComparedRequest | undefined

  /** `client`: the client's address; `passed`: a passed-through request, whose method and path are logged. */
  constructor(
    to: Telemetry,
    route: string,
    headers: IncomingHttpHeaders,
    client?: string,
    passed?: Pick<IncomingMessage, 'method' | 'url'>,
  ) {
    this.#client = client
    this.#passed = passed
    this.#to = to
    this.#route = route
    this.#received = to.now()
    this.#span = to.tracing?.begin(headers, route)
    this.headers = this.#span?.headers ?? {}
  }

  calledBy({ tenant, key }: CallerNames): void {
    this.#caller = { tenant, key }
  }

  /** The request was read and the decision made; its blocks count as requested from now on. */
  decided(request: TellingRequest, decided: DecidedRequest): void {
    const { metrics, hot, now } = this.#to
    this.#request = request
    this.#decided = decided
    this.#decidedAt = now()
    if (decided.skipped !== undefined) metrics.skipped.inc({ reason: decided.skipped })
    const fault = faultOf(decided)
    if (fault) metrics.failOpen.inc({ reason: fault })
    const { parse, index } = decided.timing
    metrics.overheadSeconds.observe({ stage: 'parse' }, parse / 1000)
    metrics.overheadSeconds.observe({ stage: 'index' }, index / 1000)
    metrics.requestOverhead.observe((parse + index) / 1000)
    this.#span?.stage('parse', this.#decidedAt - index - parse, this.#decidedAt - index)
    this.#span?.stage('index', this.#decidedAt - index, this.#decidedAt)
    if (decided.sent.length === 0) return
    const { blocks, moved, deduplicated } = decided
    const kept = blocks - moved - deduplicated
    if (moved > 0) metrics.blocks.inc({ action: 'moved' }, moved)
    if (deduplicated > 0) metrics.blocks.inc({ action: 'deduplicated' }, deduplicated)
    if (kept > 0) metrics.blocks.inc({ action: 'kept' }, kept)
    for (const prompt of decided.sent) {
      for (const context of prompt.contexts) hot.note(context.blocks, context.sizes)
    }
  }

  /** The engine refused the rewritten prompt, and it is sent as received: its blocks are not counted again. */
  decidedAgain(decided: DecidedRequest): void {
    const { metrics } = this.#to
    this.#decided = decided
    metrics.failOpen.inc({ reason: 'refused_rewritten' })
    if (decided.skipped === 'refused_rewritten') metrics.skipped.inc({ reason: decided.skipped })
  }

  /** Follows the request in the other mode, too. Called again if it goes to another replica. */
  compare(gain: ComparedRequest): void {
    this.#gain = gain
  }

  /** Tokens the engine would have cached if nothing had ever been rewritten; undefined if not known yet. */
  get baselineCachedTokens(): number | undefined {
    return this.#gain?.baselineOf(this.predictedCachedTokens)
  }

  /** The request leaves the queue for an engine. Called again for every further engine that is tried. */
  admitted(replica: string, provider: string): void {
    const at = this.#to.now()
    const isFirst = this.#admitted === undefined
    if (this.#admitted) this.#span?.stage('engine', this.#admitted.at, at)
    this.#admitted = { at, replica, provider }
    if (this.#decidedAt === undefined || !isFirst) return
    this.#to.metrics.queueSeconds.observe((at - this.#decidedAt) / 1000)
    this.#span?.stage('queue', this.#decidedAt, at)
  }

  /** Sets the prediction of cached tokens in the engine's own tokens; undefined if these are unknown. */
  predicted(cachedTokens: number | undefined): void {
    this.#exactlyPredicted = cachedTokens
  }

  /** The best current prediction of cached tokens. */
  get predictedCachedTokens(): number {
    return this.#exactlyPredicted ?? this.#decided?.predictedCachedTokens ?? 0
  }

  /** The engine's answer has started. */
  firstByte(): void {
    if (this.#firstByteAt !== undefined) return
    this.#firstByteAt = this.#to.now()
    if (!this.#decided) return
    const seconds = (this.#firstByteAt - this.#received) / 1000
    const { timeToFirstToken, replicaTimeToFirstToken } = this.#to.metrics
    timeToFirstToken.observe(seconds)
    if (this.#admitted) replicaTimeToFirstToken.observe({ replica: this.#admitted.replica }, seconds)
  }

  used(usage: ReportedUsage): void {
    const { metrics, divergence } = this.#to
    const { promptTokens, cachedTokens } = usage
    this.#usage = usage
    const [reused_tokens, cached_tokens] = [usage.reusedTokens ?? 0, cachedTokens ?? 0]
    if (this.#caller) metrics.usage.note(this.#caller, { prompt_tokens: promptTokens, cached_tokens, reused_tokens })
    metrics.promptTokens.inc(promptTokens)
    const replica = this.#admitted?.replica
    if (replica !== undefined) metrics.replicaPromptTokens.inc({ replica }, promptTokens)
    metrics.predictedOfReported.inc(this.predictedCachedTokens)
    const [first, admitted] = [this.#firstByteAt, this.#admitted]
    this.#gain?.counted(usage, first && admitted ? (first - admitted.at) / 1000 : undefined)
    metrics.reusedTokens.inc(reused_tokens)
    metrics.recomputedTokens.inc(usage.recomputedTokens ?? 0)
    if (usage.pages) countPages(metrics, usage.pages)
    if (cachedTokens === undefined) return
    metrics.cachedTokens.inc({ source: 'engine' }, cachedTokens)
    if (replica !== undefined) metrics.replicaCachedTokens.inc({ replica }, cachedTokens)
    if (!this.#decided?.sent.length || !this.#admitted) return
    const { predictedCachedTokens: estimated, mostPredictedCachedTokens: mostEstimated } = this.#decided
    const off = divergentTokens({ estimated, exact: this.#exactlyPredicted, mostEstimated, reported: cachedTokens })
    const { total, ...causes } = off
    metrics.mirrorDivergence.observe(total)
    for (const [cause, tokens] of Object.entries(causes)) metrics.divergenceByCause.inc({ cause }, tokens)
    divergence.note(this.#admitted.replica, off)
  }

  /** What a request adds to those of its caller. */
  #callsOf(outcome: Outcome): Partial<CallerSums> {
    if (!this.#admitted) return { limited_requests: 1 }
    return { requests: 1, unreported_requests: outcome === 'finished' && this.#decided && !this.#usage ? 1 : 0 }
  }

  /** The request is answered with our own error, which carries this id. `reason`: why no engine could answer. */
  refused(id: string | undefined, reason?: string): void {
    this.#refused = { id: id?.slice(0, longestId), reason }
  }

  /** The request has ended, with or without an answer. Called once. */
  ended(ending: Outcome, answer: { readonly headersSent: boolean; readonly statusCode: number }): void {
    const { metrics, log, now } = this.#to
    const at = now()
    const outcome: Outcome = ending === 'finished' && answer.statusCode >= 400 ? 'engine_error' : ending
    if (outcome === 'client_left') metrics.streamAborts.inc({ phase: this.#phase(answer.headersSent) })
    metrics.requests.inc({ route: this.#route, outcome })
    if (this.#admitted) metrics.replicaRequests.inc({ replica: this.#admitted.replica, outcome })
    const isCounted = this.#admitted !== undefined || outcome === 'rate_limited'
    if (this.#caller && isCounted) metrics.usage.note(this.#caller, this.#callsOf(outcome))
    if (answer.headersSent) metrics.predictedCachedTokens.inc(this.predictedCachedTokens)
    if (this.#admitted) this.#span?.stage('engine', this.#admitted.at, at)
    const isLogged = log.isLevelEnabled('info')
    if (!isLogged && !this.#span) return
    const record = this.#record(outcome, answer.headersSent ? answer.statusCode : undefined, at)
    if (isLogged) log.info(record, 'request')
    const { provider } = this.#admitted ?? {}
    this.#span?.end({ ...record, provider, model: this.#request?.model, usage: this.#usage }, at)
  }

  #phase(hasHead: boolean): 'queue' | 'before_head' | 'mid_stream' {
    if (!this.#admitted) return 'queue'
    return hasHead ? 'mid_stream' : 'before_head'
  }

  #record(outcome: Outcome, status: number | undefined, at: number): RequestRecord {
    const [request, decided, admitted, usage] = [this.#request, this.#decided, this.#admitted, this.#usage]
    const [decidedAt, figures] = [this.#decidedAt, this.#gain?.figures]
    const tenant = this.#caller?.tenant
    return {
      request_id: request?.id ?? this.#refused?.id,
      route: this.#route,
      method: this.#passed?.method,
      path: this.#passed?.url?.replace(/\?.*/s, '').slice(0, longestPath),
      client: this.#client,
      tenant: tenant === undefined ? undefined : tenantName(tenant),
      key: this.#caller?.key?.name,
      replica: admitted?.replica,
      status,
      outcome,
      reason: this.#refused?.reason,
      known_chunks: request?.knownChunks ?? 0,
      blocks: decided?.blocks ?? 0,
      moved: decided?.moved ?? 0,
      deduplicated: decided?.deduplicated ?? 0,
      skipped: decided?.skipped,
      predicted_cached_tokens: decided && this.predictedCachedTokens,
      cached_tokens: usage?.cachedTokens,
      baseline_cached_tokens: figures?.baselineCachedTokens,
      shadow_cached_tokens: figures?.shadowCachedTokens,
      seen_tokens: figures?.seenTokens,
      reused_tokens: usage?.reusedTokens,
      recomputed_tokens: usage?.recomputedTokens,
      cold_tokens: coldTokens(usage),
      listed_pages: usage?.pages?.listed,
      all_pages: usage?.pages?.all,
      page_choices: usage?.pages?.choices,
      page_backtracks: usage?.pages?.backtracks,
      prompt_tokens: usage?.promptTokens,
      queue_ms: admitted && decidedAt !== undefined ? rounded(admitted.at - decidedAt) : undefined,
      overhead_ms: decided && rounded(decided.timing.parse + decided.timing.index),
      ttft_ms: this.#firstByteAt && rounded(this.#firstByteAt - this.#received),
      duration_ms: rounded(at - this.#received),
    }
  }
}

function rounded(milliseconds: number): number {
  return Math.round(milliseconds * 100) / 100
}

/** Longer paths are cut off here. */
const longestPath = 200
/** Longer ids, which clients choose, are cut off here. */
const longestId = 200

/** Returns the fault to count: ours, explicit blocks of a past turn that are missing, or too much to rewrite. */
function faultOf({ fault, skipped }: DecidedRequest): FailOpenReason | undefined {
  if (fault !== undefined) return 'internal_error'
  return skipped === 'unknown_turn' || skipped === 'ambiguous_turn' || skipped === tooLarge ? skipped : undefined
}

function countPages(metrics: Metrics, { listed, all, choices, backtracks }: PageUsage): void {
  metrics.listedPages.inc(listed)
  metrics.allPages.inc(all)
  metrics.pageChoices.inc(choices)
  metrics.pageBacktracks.inc(backtracks)
}
