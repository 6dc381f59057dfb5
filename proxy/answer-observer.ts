import type { IncomingHttpHeaders } from 'node:http'
import { UsageReader } from '#engine-adapters/read-usage.ts'
import type { RequestId } from '#index/context-block.ts'
import type { Decision } from './decide.ts'
import type { ForwardObserver, ForwardOutcome } from './forward.ts'
import type { Pipeline } from './pipeline.ts'

/** When the stages of a request ended, in milliseconds. */
export interface Stages {
  readonly received: number
  readonly decided: number
  readonly admitted: number
}

/** Watches the engine's answer to one request, describes the decision in its head, and feeds back what it says. */
export class AnswerObserver implements ForwardObserver {
  readonly #pipeline: Pipeline
  readonly #request: RequestId
  readonly #decision: Decision
  readonly #stages: Stages
  /** the id the client knows the request by */
  readonly #clientId: string
  #status = 0
  #usage: UsageReader | undefined
  #hasBegun = false

  constructor(pipeline: Pipeline, request: RequestId, clientId: string, decision: Decision, stages: Stages) {
    this.#pipeline = pipeline
    this.#request = request
    this.#clientId = clientId
    this.#decision = decision
    this.#stages = stages
  }

  onHead(status: number, headers: IncomingHttpHeaders): Record<string, string> {
    this.#status = status
    if (this.#isSuccess) this.#usage = new UsageReader(headers['content-type'] ?? '')
    return this.#describe(this.#pipeline.now())
  }

  onChunk(chunk: Buffer): void {
    if (!this.#hasBegun && this.#isSuccess) {
      this.#pipeline.metrics.timeToFirstToken.observe((this.#pipeline.now() - this.#stages.received) / 1000)
    }
    this.#hasBegun = true
    this.#usage?.push(chunk)
  }

  /** The answer is over: what the engine did with the request becomes known to the mirror and the metrics. */
  finish(outcome: ForwardOutcome): void {
    const { mirror, metrics } = this.#pipeline
    if (outcome === 'client_left')
      metrics.streamAborts.inc({ phase: this.#status === 0 ? 'before_head' : 'mid_stream' })
    if (!this.#isSuccess) mirror.apply({ type: 'failed', request: this.#request })
    const usage = outcome === 'finished' ? this.#usage?.read() : undefined
    if (!usage) return
    mirror.apply({ type: 'used', request: this.#request, promptTokens: usage.promptTokens })
    metrics.promptTokens.inc(usage.promptTokens)
    if (usage.cachedTokens === undefined) return
    metrics.cachedTokens.inc({ source: 'engine' }, usage.cachedTokens)
    if (this.#decision.sent) {
      metrics.mirrorDivergence.observe(Math.abs(this.#decision.predictedCachedTokens - usage.cachedTokens))
    }
  }

  get #isSuccess(): boolean {
    return this.#status >= 200 && this.#status < 300
  }

  #describe(now: number): Record<string, string> {
    const { blocks, moved, predictedCachedTokens, skipped, timing } = this.#decision
    const { decided, admitted } = this.#stages
    const stages = { parse: timing.parse, index: timing.index, queue: admitted - decided, engine: now - admitted }
    return {
      'x-request-id': this.#clientId,
      'x-reprise-replica': this.#pipeline.replica,
      'x-reprise-blocks': String(blocks),
      'x-reprise-moved': String(moved),
      'x-reprise-deduplicated': '0',
      'x-reprise-predicted-cached-tokens': String(predictedCachedTokens),
      ...(skipped === undefined ? {} : { 'x-reprise-skipped': skipped }),
      'server-timing': Object.entries(stages)
        .map(([stage, duration]) => `${stage};dur=${duration.toFixed(2)}`)
        .join(', '),
    }
  }
}
