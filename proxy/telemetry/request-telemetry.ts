import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { PageUsage } from '#engine-adapters/page-usage.ts'
import type { SentPrompt } from '#index/cache-event.ts'
import { tooLarge } from '../bounds/work-limits.ts'
import { logRequest, type RequestRecord } from './access-log.ts'
import { divergentTokens } from './divergence.ts'
import { countPages } from './page-metrics.ts'
import type { Telemetry } from './telemetry.ts'
import type { RequestSpan } from './tracing/tracing.ts'

/** Whose request it is. */
export interface CallerNames {
  readonly tenant: string
  /** the API key that was shown, by the name that its entry gives it */
  readonly key: { readonly name: string } | undefined
}

/** What was decided for a request. */
export interface DecidedRequest {
  readonly blocks: number
  readonly moved: number
  readonly deduplicated?: number
  readonly skipped: string | undefined
  readonly fault: unknown
  /** as estimated, for the replica chosen and for the one that holds most */
  readonly predictedCachedTokens: number
  readonly mostPredictedCachedTokens: number
  readonly timing: { readonly parse: number; readonly index: number }
  /** its prompts as they are sent; none when they could not be read */
  readonly sent: readonly SentPrompt[]
}

/** What is told of a request by what it asks for. */
interface TellingRequest {
  readonly id: string
  readonly tenant: string
  readonly model?: string | undefined
  /** how many known chunks its prompt holds */
  readonly knownChunks?: number
}

/** A request that is followed in the other mode too. */
interface ComparedRequest {
  baselineOf(predictedCachedTokens: number): number | undefined
  used(usage: ReportedUsage, firstTokenSeconds: number | undefined): void
  readonly figures:
    | {
        readonly baselineCachedTokens: number
        readonly shadowCachedTokens: number | undefined
        readonly seenTokens: number
      }
    | undefined
}

/** What the engine says it did. */
export interface ReportedUsage {
  readonly promptTokens: number
  readonly cachedTokens: number | undefined
  /** taken over from another position as they were; undefined where the engine does no such thing */
  readonly reusedTokens?: number | undefined
  /** found at another position and computed again, where that is known */
  readonly recomputedTokens?: number | undefined
  readonly completionTokens?: number | undefined
  readonly pages?: PageUsage | undefined
}

/**
 * What is told about one request on its way: the one place where it becomes metrics, a line of the log and a span.
 * Steps a request never came to are left out; none of them throws.
 */
export class RequestTelemetry {
  /** trace headers for the engine, in place of the client's; none while tracing is off */
  readonly headers: Readonly<Record<string, string>>
  readonly #to: Telemetry
  readonly #route: string
  readonly #received: number
  readonly #span: RequestSpan | undefined
  readonly #client: string | undefined
  readonly #passed: Pick<IncomingMessage, 'method' | 'url'> | undefined
  #caller: CallerNames | undefined
  #request: TellingRequest | undefined
  /** what its client was told to name it by; undefined: it was not refused by us */
  #refusedAs: string | undefined
  #decided: DecidedRequest | undefined
  #decidedAt: number | undefined
  #admitted: { at: number; replica: string; provider: string } | undefined
  #firstByteAt: number | undefined
  #exactlyPredicted: number | undefined
  #usage: ReportedUsage | undefined
  #gain: ComparedRequest | undefined

  /** `client`: the address that the request came from; `passed`: what of it is told where its route says nothing of it. */
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

  /** It is known whose request it is. */
  calledBy({ tenant, key }: CallerNames): void {
    this.#caller = { tenant, key }
  }

  /** The request was read and decided upon, and counts as sent from now on. */
  decided(request: TellingRequest, decided: DecidedRequest): void {
    const { metrics, hot, now } = this.#to
    this.#request = request
    this.#decided = decided
    this.#decidedAt = now()
    if (decided.skipped !== undefined) metrics.skipped.inc({ reason: decided.skipped })
    if (decided.fault !== undefined || isCounted(decided)) {
      metrics.failOpen.inc({ reason: decided.skipped ?? 'unknown' })
    }
    const { parse, index } = decided.timing
    metrics.overheadSeconds.observe({ stage: 'parse' }, parse / 1000)
    metrics.overheadSeconds.observe({ stage: 'index' }, index / 1000)
    metrics.requestOverhead.observe((parse + index) / 1000)
    this.#span?.stage('parse', this.#decidedAt - index - parse, this.#decidedAt - index)
    this.#span?.stage('index', this.#decidedAt - index, this.#decidedAt)
    if (decided.sent.length === 0) return
    const deduplicated = decided.deduplicated ?? 0
    metrics.blocks.inc({ action: 'moved' }, decided.moved)
    metrics.blocks.inc({ action: 'deduplicated' }, deduplicated)
    metrics.blocks.inc({ action: 'kept' }, Math.max(0, decided.blocks - decided.moved - deduplicated))
    for (const prompt of decided.sent) {
      for (const { blocks, sizes } of prompt.contexts) hot.note(blocks, sizes)
    }
  }

  /** What it would be in the other mode is followed from now on; at another replica, anew. */
  compare(gain: ComparedRequest): void {
    this.#gain = gain
  }

  /** What the engine would have cached had nothing ever been rewritten; undefined: not known by now. */
  get baselineCachedTokens(): number | undefined {
    return this.#gain?.baselineOf(this.predictedCachedTokens)
  }

  /** The request has waited and goes to an engine; once more for every engine that is tried after it. */
  admitted(replica: string, provider: string): void {
    const at = this.#to.now()
    const isFirst = this.#admitted === undefined
    this.#leaveReplica(at)
    this.#admitted = { at, replica, provider }
    this.#to.metrics.inFlight.inc({ replica })
    if (this.#decidedAt === undefined || !isFirst) return
    this.#to.metrics.queueSeconds.observe((at - this.#decidedAt) / 1000)
    this.#span?.stage('queue', this.#decidedAt, at)
  }

  /** What the engine is predicted to have cached, in its own tokens; undefined: these are not known. */
  predicted(cachedTokens: number | undefined): void {
    this.#exactlyPredicted = cachedTokens
  }

  /** What the engine is predicted to have cached, as well as is known by now. */
  get predictedCachedTokens(): number {
    return this.#exactlyPredicted ?? this.#decided?.predictedCachedTokens ?? 0
  }

  /** The engine's answer has begun. */
  firstByte(): void {
    if (this.#firstByteAt !== undefined) return
    this.#firstByteAt = this.#to.now()
    if (!this.#decided) return
    const seconds = (this.#firstByteAt - this.#received) / 1000
    const { timeToFirstToken, byReplica } = this.#to.metrics
    timeToFirstToken.observe(seconds)
    if (this.#admitted) byReplica.timeToFirstToken.observe({ replica: this.#admitted.replica }, seconds)
  }

  /** The engine said what it did. */
  used(usage: ReportedUsage): void {
    const { metrics, divergence } = this.#to
    const { promptTokens, cachedTokens } = usage
    const sent = this.#decided?.sent ?? []
    this.#usage = usage
    metrics.promptTokens.inc(promptTokens)
    const replica = this.#admitted?.replica
    if (replica !== undefined) metrics.byReplica.promptTokens.inc({ replica }, promptTokens)
    metrics.predictedOfReported.inc(this.predictedCachedTokens)
    const [first, admitted] = [this.#firstByteAt, this.#admitted]
    this.#gain?.used(usage, first && admitted ? (first - admitted.at) / 1000 : undefined)
    metrics.reusedTokens.inc(usage.reusedTokens ?? 0)
    countPages(metrics.pages, usage.pages)
    if (cachedTokens === undefined) return
    metrics.cachedTokens.inc({ source: 'engine' }, cachedTokens)
    if (replica !== undefined) metrics.byReplica.cachedTokens.inc({ replica }, cachedTokens)
    if (sent.length === 0 || !this.#admitted) return
    const { predictedCachedTokens: estimated, mostPredictedCachedTokens: mostEstimated } = this.#decided!
    const off = divergentTokens({ estimated, exact: this.#exactlyPredicted, mostEstimated, reported: cachedTokens })
    metrics.mirrorDivergence.observe(off.total)
    metrics.divergenceByCause.inc({ cause: 'stale_index' }, off.staleIndex)
    metrics.divergenceByCause.inc({ cause: 'routing' }, off.routing)
    metrics.divergenceByCause.inc({ cause: 'tokenisation' }, off.tokenisation)
    divergence.note(this.#admitted.replica, off)
  }

  /** The request is answered with an error of ours, which bears this id. */
  refused(id: string): void {
    this.#refusedAs = id.slice(0, longestId)
  }

  /** The request has ended, with this answer or without one; called once. */
  ended(ending: string, answer: { readonly headersSent: boolean; readonly statusCode: number }): void {
    const { metrics, log, now } = this.#to
    const at = now()
    const outcome = ending === 'finished' && answer.statusCode >= 400 ? engineError : ending
    if (outcome === 'client_left') metrics.streamAborts.inc({ phase: this.#phase(answer.headersSent) })
    metrics.requests.inc({ route: this.#route, outcome })
    if (this.#admitted) metrics.byReplica.requests.inc({ replica: this.#admitted.replica, outcome })
    if (answer.headersSent) metrics.predictedCachedTokens.inc(this.predictedCachedTokens)
    this.#leaveReplica(at)
    const record = this.#record(outcome, answer.headersSent ? answer.statusCode : undefined, at)
    if (this.#to.logsRequests?.() ?? true) logRequest(log, record)
    this.#span?.end(record, at)
  }

  #leaveReplica(at: number): void {
    if (!this.#admitted) return
    this.#to.metrics.inFlight.dec({ replica: this.#admitted.replica })
    this.#span?.stage('engine', this.#admitted.at, at)
  }

  #phase(hasHead: boolean): 'queue' | 'before_head' | 'mid_stream' {
    if (!this.#admitted) return 'queue'
    return hasHead ? 'mid_stream' : 'before_head'
  }

  #record(outcome: string, status: number | undefined, at: number): RequestRecord {
    const [request, decided, admitted, usage] = [this.#request, this.#decided, this.#admitted, this.#usage]
    const decidedAt = this.#decidedAt
    return {
      requestId: request?.id ?? this.#refusedAs,
      route: this.#route,
      method: this.#passed?.method,
      path: this.#passed?.url?.replace(/\?.*/s, '').slice(0, longestPath),
      client: this.#client,
      tenant: this.#caller?.tenant ?? request?.tenant,
      key: this.#caller?.key?.name,
      replica: admitted?.replica,
      provider: admitted?.provider,
      status,
      outcome,
      model: request?.model,
      knownChunks: request?.knownChunks ?? 0,
      blocks: decided?.blocks ?? 0,
      moved: decided?.moved ?? 0,
      deduplicated: decided?.deduplicated ?? 0,
      skipped: decided?.skipped,
      predictedCachedTokens: decided && this.predictedCachedTokens,
      cachedTokens: usage?.cachedTokens,
      ...this.#gain?.figures,
      reusedTokens: usage?.reusedTokens,
      recomputedTokens: usage?.recomputedTokens,
      coldTokens: coldTokens(usage),
      pages: usage?.pages,
      promptTokens: usage?.promptTokens,
      completionTokens: usage?.completionTokens,
      queueMilliseconds: admitted && decidedAt !== undefined ? admitted.at - decidedAt : undefined,
      overheadMilliseconds: decided && decided.timing.parse + decided.timing.index,
      firstByteMilliseconds: this.#firstByteAt && this.#firstByteAt - this.#received,
      milliseconds: at - this.#received,
    }
  }
}

/** What was computed without having been found anywhere; told of engines that reuse at any position. */
function coldTokens(usage: ReportedUsage | undefined): number | undefined {
  if (usage?.reusedTokens === undefined || usage.cachedTokens === undefined) return undefined
  return usage.promptTokens - usage.cachedTokens - usage.reusedTokens - (usage.recomputedTokens ?? 0)
}

/** A path is cut here. */
const longestPath = 200
/** An id that a client chose is cut here. */
const longestId = 200

/** How a request ended that the engine answered with an error of its own. */
const engineError = 'engine_error'

/** Whether documents of a past turn are missing that were given beside it, or it takes too long to rewrite. */
function isCounted({ skipped }: DecidedRequest): boolean {
  return skipped === 'unknown_turn' || skipped === 'ambiguous_turn' || skipped === tooLarge
}
