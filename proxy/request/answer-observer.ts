import type { IncomingHttpHeaders } from 'node:http'
import { type HeldTokens, nothingHeld } from '#engine-adapters/kv-events/reported-cache.ts'
import { type Usage, UsageReader } from '#engine-adapters/read-usage.ts'
import type { RequestId } from '#index/context-block.ts'
import type { AnswerRewriter } from '../answer/answer-rewriter.ts'
import { createAnswerRewriter } from '../answer/create-answer-rewriter.ts'
import { choicesEach, PromptLabels } from '../answer/prompt-labels.ts'
import type { Call, RoutedCall } from '../call/call.ts'
import type { Charge } from '../call/charge-call.ts'
import type { Exchange } from '../call/exchange.ts'
import type { Trip } from '../call/trip.ts'
import type { ForwardOutcome } from '../common/reasons.ts'
import type { ForwardObserver } from '../http/forward.ts'
import { membersOf } from '../http/receive/read-received.ts'
import { asksForData } from '../prompt/demands/demands.ts'
import type { Pipeline } from './pipeline.ts'
import { hasOnePrompt } from './prompt-list.ts'

/** What an observer needs to know about the request besides the decision. */
interface Observed {
  /** the id the engine knows it by */
  readonly request: RequestId
  readonly charge: Charge
  /** the ids of its prompts in the engine's reports */
  readonly promptIds: readonly RequestId[]
  /** all that follows the request */
  readonly trip: Trip
  /** Returns how many tokens of the request the engine has cached; undefined if the exact number is not known. */
  predict(): HeldTokens | undefined
}

/** Watches the engine's answer to one request, describes the decision in its head, and feeds the outcome back. */
export class AnswerObserver implements ForwardObserver {
  readonly #pipeline: Pipeline
  readonly #exchange: Exchange
  readonly #call: Call
  readonly #routed: RoutedCall
  readonly #observed: Observed
  readonly #decided: number
  /** undefined: nothing is mapped; computed early, since the body is released when the answer's head arrives */
  readonly #labels: PromptLabels | undefined
  /** the engine's cached tokens are those of the whole request */
  readonly #countsAll: boolean
  #admitted: number | undefined
  #isSent = false
  /** what was predicted in the engine's own tokens */
  #held = nothingHeld
  /** 0: no head yet */
  #status = 0
  #usage: UsageReader | undefined
  #rewriter: AnswerRewriter | undefined

  constructor(pipeline: Pipeline, exchange: Exchange, call: Call, routed: RoutedCall, observed: Observed) {
    this.#pipeline = pipeline
    this.#exchange = exchange
    this.#call = call
    this.#routed = routed
    this.#observed = observed
    this.#decided = pipeline.now()
    const members = membersOf(call.content.received)
    const { citations } = routed.decision
    if (citations.length > 0 && !asksForData(members)) this.#labels = new PromptLabels(citations, choicesEach(members))
    this.#countsAll = routed.replica.adapter.countsCachedOfAll || hasOnePrompt(call.api, members)
  }

  /** The request has finished waiting and goes to the engine now. */
  admitted(): void {
    this.#admitted = this.#pipeline.now()
    const { id, adapter } = this.#routed.replica
    this.#exchange.telemetry.admitted(id, adapter.kind)
  }

  onSent(): void {
    this.#isSent = true
  }

  onHead(status: number, headers: IncomingHttpHeaders): void {
    this.#status = status
    this.#observed.trip.onHead(status, headers)
    if (this.#isSuccess) this.#usage = new UsageReader(headers['content-type'] ?? '')
  }

  onChunk(chunk: Buffer): void {
    if (this.#isSuccess) {
      this.#exchange.telemetry.firstByte()
      this.#observed.trip.onChunk(chunk)
    }
    this.#usage?.push(chunk)
  }

  /** Returns the rewriter that maps citations back in an answer with this head, if one is needed. */
  readonly rewriterFor = (status: number, headers: IncomingHttpHeaders): AnswerRewriter | undefined => {
    if (!this.#labels || status < 200 || status >= 300) return undefined
    if ((headers['content-encoding'] ?? 'identity') !== 'identity') {
      this.#pipeline.telemetry.metrics.failOpen.inc({ reason: 'encoded_answer' })
      return undefined
    }
    this.#rewriter = createAnswerRewriter(this.#call.api, headers['content-type'] ?? '', this.#labels)
    return this.#rewriter
  }

  /** Called when the answer is over: passes on to the mirror and the metrics what the engine did with the request. */
  finish(outcome: ForwardOutcome): void {
    if (this.#rewriter) this.#finishRewriting(this.#rewriter)
    const usage = this.#isSuccess && outcome === 'finished' ? this.#readUsage() : undefined
    const isRun = this.#isRun
    if (isRun) this.#observed.trip.onRun()
    this.#feedBack(usage, isRun)
    if (usage?.reusedTokens) this.#routed.replica.events?.reused()
    if (this.#status >= 400 || (this.#isSuccess && !isRun)) this.#observed.charge.settle('not_run')
    else if (isRun) this.#observed.charge.settle(usage ?? 'unreported')
    if (!usage) return
    this.#observed.trip.used(usage)
    const recomputedTokens = usage.recomputedTokens ?? (this.#countsAll ? this.#recomputedTokens : undefined)
    this.#exchange.telemetry.used({ ...usage, recomputedTokens })
  }

  /**
   * Settles what was predicted, as far as it is known when the head goes out, and returns our response headers; for a
   * request that still waits they describe what is intended.
   */
  settleHead(): Record<string, string> {
    const { timing } = this.#routed.decision
    const held = this.#observed.predict()
    this.#held = held ?? nothingHeld
    this.#exchange.telemetry.predicted(held && held.device + held.host + held.remote)
    const now = this.#pipeline.now()
    const admitted = this.#admitted ?? now
    const stages = { parse: timing.parse, index: timing.index, queue: admitted - this.#decided, engine: now - admitted }
    return {
      'x-request-id': this.#exchange.incoming.headers['x-request-id']?.toString() || this.#observed.request,
      ...(this.#call.settings.headers ? this.#describeDecision() : {}),
      'server-timing': Object.entries(stages)
        .map(([stage, duration]) => `${stage};dur=${duration.toFixed(2)}`)
        .join(', '),
    }
  }

  #describeDecision(): Record<string, string> {
    const { decision, replica } = this.#routed
    const { blocks, moved, deduplicated, predictedReusedTokens: reused, skipped } = decision
    const { baselineCachedTokens: baseline, predictedCachedTokens } = this.#exchange.telemetry
    const isRefused = this.#status !== 0 && !this.#isSuccess
    return {
      'x-reprise-replica': replica.id,
      'x-reprise-blocks': String(blocks),
      'x-reprise-moved': String(moved),
      'x-reprise-deduplicated': String(deduplicated),
      'x-reprise-predicted-cached-tokens': String(predictedCachedTokens),
      ...(this.#held.host > 0 ? { 'x-reprise-predicted-host-tokens': String(this.#held.host) } : {}),
      ...(this.#held.remote > 0 ? { 'x-reprise-predicted-remote-tokens': String(this.#held.remote) } : {}),
      ...(baseline === undefined || isRefused ? {} : { 'x-reprise-baseline-cached-tokens': String(baseline) }),
      ...(reused === undefined ? {} : { 'x-reprise-predicted-reused-tokens': String(reused) }),
      ...(skipped === undefined ? {} : { 'x-reprise-skipped': skipped }),
      ...this.#describeTemplate(),
    }
  }

  /** Where moves need permission: the template of the first list, and where it stands. */
  #describeTemplate(): Record<string, string> {
    const { mode } = this.#call.settings
    if (mode !== 'auto' && mode !== 'ask') return {}
    const { contexts } = this.#routed.decision
    const id = contexts.find(({ found }) => found.template !== undefined)?.found.template?.id
    if (id === undefined) return {}
    return { 'x-reprise-template': `${id};state=${this.#pipeline.templates.stateOf(id)}` }
  }

  #readUsage(): Usage | undefined {
    const usage = this.#usage?.read()
    if (!usage || this.#countsAll) return usage
    const unknown = { cachedTokens: undefined, reusedTokens: undefined, recomputedTokens: undefined, pages: undefined }
    return { ...usage, ...unknown }
  }

  /** Tokens found at another position that the engine recomputed, as far as its reports have arrived. */
  get #recomputedTokens(): number | undefined {
    const { cache } = this.#routed.replica
    const told = this.#observed.promptIds.flatMap((id) => cache.recomputedOf(id) ?? [])
    return told.length > 0 ? told.reduce((sum, tokens) => sum + tokens, 0) : undefined
  }

  get #isRun(): boolean {
    // its client left before the head came: an engine is silent while it prefills, and caches what it has computed
    if (this.#status === 0) return this.#isSent
    // SGLang refuses a streamed `/generate` with 200 and an event
    return this.#isSuccess && !this.#usage?.isRefusal
  }

  get #isSuccess(): boolean {
    return this.#status >= 200 && this.#status < 300
  }

  #finishRewriting({ remapped, overflowed, fault }: AnswerRewriter): void {
    const { metrics } = this.#pipeline.telemetry
    metrics.citationsRemapped.inc(remapped)
    if (fault === undefined) {
      if (overflowed) metrics.failOpen.inc({ reason: 'answer_too_large' })
      return
    }
    metrics.failOpen.inc({ reason: 'answer_rewriter' })
    this.#pipeline.log.error({ request: this.#observed.request, error: fault }, 'citations are not mapped any further')
  }

  /** For several prompts in one request only the total of their tokens is known; it is divided by their lengths. */
  #feedBack(usage: Usage | undefined, isRun: boolean): void {
    const { replica, decision } = this.#routed
    const length = decision.sent.reduce((sum, prompt) => sum + prompt.length, 0)
    for (const [i, request] of this.#observed.promptIds.entries()) {
      if (!isRun) replica.cache.failed([request])
      else if (usage) {
        const share = decision.sent[i]!.length / length
        const cached = this.#observed.promptIds.length === 1 ? usage.cachedTokens : undefined
        replica.cache.used(request, Math.round(usage.promptTokens * share), cached)
      } else if (this.#status === 0) replica.cache.doubted(request)
    }
  }
}
