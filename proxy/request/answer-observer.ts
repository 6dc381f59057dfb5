import type { IncomingHttpHeaders } from 'node:http'
import { type HeldTokens, nothingHeld } from '#engine-adapters/kv-events/reported-cache.ts'
import { type Usage, UsageReader } from '#engine-adapters/read-usage.ts'
import type { RequestId } from '#index/context-block.ts'
import {
  type AnswerRewriter,
  choicesEach,
  createAnswerRewriter,
  type LabelsOf,
  labelsOfChoices,
} from '../answer/answer-rewriter.ts'
import type { Call, Exchange, RoutedCall } from '../call/call.ts'
import type { Charge } from '../call/charge-call.ts'
import type { Trip } from '../call/trip.ts'
import type { ForwardOutcome } from '../common/reasons.ts'
import type { ForwardObserver } from '../http/forward.ts'
import type { Pipeline } from './pipeline.ts'
import { hasOnePrompt } from './request-ids.ts'

/** A request on its way to one replica. */
export interface Sending {
  readonly pipeline: Pipeline
  readonly exchange: Exchange
  readonly call: Call
  readonly routed: RoutedCall
  /** the id the engine knows it by */
  readonly request: RequestId
  /** the ids of its prompts in the engine's reports */
  readonly ids: readonly RequestId[]
  readonly charge: Charge
  /** all that follows it */
  readonly trip: Trip
}

/** Watches the engine's answer to one request, describes the decision in its head, and feeds the outcome back. */
export class AnswerObserver implements ForwardObserver {
  readonly #sending: Sending
  /** Returns how many tokens of the request the engine has cached; undefined if the exact number is not known. */
  readonly #predict: () => HeldTokens | undefined
  readonly #decided: number
  /** undefined: nothing is mapped; computed early, since the body is released when the answer's head arrives */
  readonly #labels: LabelsOf | undefined
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

  constructor(sending: Sending, predict: () => HeldTokens | undefined) {
    const { pipeline, call, routed } = sending
    const { members, received } = call.content
    const { citations } = routed.decision
    this.#sending = sending
    this.#predict = predict
    this.#decided = pipeline.now()
    if (citations.length > 0 && !received.prompt?.demands.isDataAsked)
      this.#labels = labelsOfChoices(citations, choicesEach(members))
    this.#countsAll = routed.replica.adapter.countsCachedOfAll || hasOnePrompt(call.api, members)
  }

  /** The request has finished waiting and goes to the engine now. */
  admitted(): void {
    this.#admitted = this.#sending.pipeline.now()
    const { id, adapter } = this.#sending.routed.replica
    this.#sending.exchange.telemetry.admitted(id, adapter.kind)
  }

  onSent(): void {
    this.#isSent = true
  }

  onHead(status: number, headers: IncomingHttpHeaders): void {
    this.#status = status
    this.#sending.trip.tell('onHead', status, headers)
    if (this.#isSuccess) this.#usage = new UsageReader(headers['content-type'] ?? '')
  }

  onChunk(chunk: Buffer): void {
    if (this.#isSuccess) {
      this.#sending.exchange.telemetry.firstByte()
      this.#sending.trip.tell('onChunk', chunk)
    }
    this.#usage?.push(chunk)
  }

  /** Returns the rewriter that maps citations back in an answer with this head, if one is needed. */
  readonly rewriterFor = (status: number, headers: IncomingHttpHeaders): AnswerRewriter | undefined => {
    if (!this.#labels || status < 200 || status >= 300) return undefined
    if ((headers['content-encoding'] ?? 'identity') !== 'identity') {
      this.#sending.pipeline.telemetry.metrics.failOpen.inc({ reason: 'encoded_answer' })
      return undefined
    }
    this.#rewriter = createAnswerRewriter(this.#sending.call.api, headers['content-type'] ?? '', this.#labels)
    return this.#rewriter
  }

  /** Called when the answer is over: passes on to the mirror and the metrics what the engine did with the request. */
  finish(outcome: ForwardOutcome): void {
    if (this.#rewriter) this.#finishRewriting(this.#rewriter)
    const usage = this.#isSuccess && outcome === 'finished' ? this.#readUsage() : undefined
    const { trip, charge, routed, exchange } = this.#sending
    trip.wasRun = this.#isRun
    this.#feedBack(usage)
    if (usage?.reusedTokens) routed.replica.events?.reused()
    if (this.#status >= 400 || (this.#isSuccess && !trip.wasRun)) charge.settle('not_run')
    else if (trip.wasRun) charge.settle(usage ?? 'unreported')
    if (!usage) return
    trip.tell('used', usage)
    const recomputedTokens = usage.recomputedTokens ?? (this.#countsAll ? this.#recomputedTokens : undefined)
    exchange.telemetry.used({ ...usage, recomputedTokens })
  }

  /**
   * Settles what was predicted, as far as it is known when the head goes out, and returns our response headers; for a
   * request that still waits they describe what is intended.
   */
  settleHead(): Record<string, string> {
    const { timing } = this.#sending.routed.decision
    const held = this.#predict()
    this.#held = held ?? nothingHeld
    this.#sending.exchange.telemetry.predicted(held && held.device + held.host + held.remote)
    const now = this.#sending.pipeline.now()
    const admitted = this.#admitted ?? now
    const [queue, engine] = [admitted - this.#decided, now - admitted]
    return {
      'x-request-id': this.#sending.exchange.incoming.headers['x-request-id']?.toString() || this.#sending.request,
      ...(this.#sending.call.settings.headers ? this.#describeDecision() : {}),
      'server-timing': `parse;dur=${timing.parse.toFixed(2)}, index;dur=${timing.index.toFixed(2)}, queue;dur=${queue.toFixed(2)}, engine;dur=${engine.toFixed(2)}`,
    }
  }

  #describeDecision(): Record<string, string> {
    const { decision, replica } = this.#sending.routed
    const { blocks, moved, deduplicated, predictedReusedTokens: reused, skipped } = decision
    const { baselineCachedTokens: baseline, predictedCachedTokens } = this.#sending.exchange.telemetry
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
    const { mode } = this.#sending.call.settings
    if (mode !== 'auto' && mode !== 'ask') return {}
    const { contexts } = this.#sending.routed.decision
    const id = contexts.find(({ found }) => found.template !== undefined)?.found.template?.id
    if (id === undefined) return {}
    return { 'x-reprise-template': `${id};state=${this.#sending.pipeline.templates.stateOf(id)}` }
  }

  #readUsage(): Usage | undefined {
    const usage = this.#usage?.read()
    if (!usage || this.#countsAll) return usage
    const unknown = { cachedTokens: undefined, reusedTokens: undefined, recomputedTokens: undefined, pages: undefined }
    return { ...usage, ...unknown }
  }

  /** Tokens found at another position that the engine recomputed, as far as its reports have arrived. */
  get #recomputedTokens(): number | undefined {
    const { cache } = this.#sending.routed.replica
    const told = this.#sending.ids.flatMap((id) => cache.recomputedOf(id) ?? [])
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
    const { metrics } = this.#sending.pipeline.telemetry
    metrics.citationsRemapped.inc(remapped)
    if (fault === undefined) {
      if (overflowed) metrics.failOpen.inc({ reason: 'answer_too_large' })
      return
    }
    metrics.failOpen.inc({ reason: 'answer_rewriter' })
    this.#sending.pipeline.log.error(
      { request: this.#sending.request, error: fault },
      'citations are not mapped any further',
    )
  }

  /** For several prompts in one request only the total of their tokens is known; it is divided by their lengths. */
  #feedBack(usage: Usage | undefined): void {
    const { ids, trip, routed } = this.#sending
    const { cache } = routed.replica
    const { sent } = routed.decision
    const length = sent.reduce((sum, prompt) => sum + prompt.length, 0)
    for (const [i, request] of ids.entries()) {
      if (!trip.wasRun) cache.failed([request])
      else if (usage) {
        const promptTokens = Math.round((usage.promptTokens * sent[i]!.length) / length)
        cache.used(request, promptTokens, ids.length === 1 ? usage.cachedTokens : undefined)
      } else if (this.#status === 0) cache.doubted(request)
    }
  }
}
