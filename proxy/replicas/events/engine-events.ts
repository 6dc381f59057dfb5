import { randomUUID } from 'node:crypto'
import type { BlockName } from '#engine-adapters/kv-events/block-naming.ts'
import { KvEventError } from '#engine-adapters/kv-events/decode-batch.ts'
import type { LossReason } from '#engine-adapters/kv-events/event-order.ts'
import { EventSubscriber } from '#engine-adapters/kv-events/event-subscriber.ts'
import type { KvEventBatch } from '#engine-adapters/kv-events/kv-event.ts'
import { type HeldTokens, nothingHeld, ReportedCache } from '#engine-adapters/kv-events/reported-cache.ts'
import type { SentPrompt } from '#index/cache-event.ts'
import type { RequestId } from '#index/context-block.ts'
import { RateLimitedWarnings, type Warn } from '../../common/rate-limited-warnings.ts'
import type { MirrorMode, ReplicaMirror } from '../mirror/replica-mirror.ts'
import type { FollowedEvents } from '../reports/followed-events.ts'
import type { AskedPrompt } from '../reports/token-asker.ts'
import { TiedRequests } from './tied-requests.ts'

/** The options for following an engine's events. */
interface EngineEventsOptions {
  readonly eventsUrl: string
  readonly replayUrl: string | undefined
  readonly mirror: ReplicaMirror
  /** milliseconds, monotonic */
  readonly now: () => number
  /** Logs problems with the events. */
  readonly warn: Warn
  readonly onGap: () => void
}

/** How long a request's events may still arrive after its end. */
const settleMilliseconds = 300
const sweepMilliseconds = 100
const lossTexts: Readonly<Record<LossReason, string>> = {
  restarted: 'the engine was restarted',
  missed: 'what the engine held before is not known any more',
  found: 'the engine tells again what was missed',
}
const hiddenSalt =
  'requests with a cache salt are not found in the engine’s events, which do not name it (extra_keys): use a later version'
const hiddenReuse =
  'the engine reuses KV at any position and has hashes that cannot be computed here, so that what its events tell of is not ' +
  'known to be exact: start it with --prefix-caching-hash-algo sha256 and without PYTHONHASHSEED, or let its plugin report'
/** As many as the mirror holds. */
const maxRequests = 100_000
/** With more running requests than these, the engine's answers about tokens lag far behind. */
const maxFollowed = 10_000

/** A prompt that was sent, and for which it is not yet settled what the engine keeps. */
interface SentRequest {
  readonly prompt: SentPrompt
  /** the mark in the engine's cache at which it was sent */
  readonly moment: number
  /** undefined: not known yet; null: unavailable */
  tokens: AskedPrompt | null | undefined
  /** milliseconds; undefined while it runs */
  endedAt: number | undefined
}

/** Updates a replica's mirror from the engine's own KV events. Token ids tie requests to blocks. */
export class EngineEvents implements FollowedEvents {
  readonly #options: EngineEventsOptions
  readonly #subscriber: EventSubscriber
  readonly #cache: ReportedCache
  readonly #sent = new Map<RequestId, SentRequest>()
  readonly #tied: TiedRequests
  readonly #warnings: RateLimitedWarnings
  readonly #timer: NodeJS.Timeout
  #generation: string = randomUUID()
  #gaps = 0
  /** for the last settled request the engine did not reveal the tokens, or something else that identifies its blocks */
  #isBlind = false
  #reuses = false

  constructor(options: EngineEventsOptions) {
    this.#options = options
    this.#warnings = new RateLimitedWarnings(options.warn, options.now)
    this.#tied = new TiedRequests(maxRequests, (request, keptBlocks) => {
      options.mirror.report({ type: 'evicted', request, cachedTokens: keptBlocks * this.#cache.blockSize })
    })
    this.#cache = new ReportedCache((lost) => this.#tied.cut(lost))
    this.#subscriber = new EventSubscriber({
      eventsUrl: options.eventsUrl,
      replayUrl: options.replayUrl,
      onBatch: (batch) => this.#take(batch),
      onLost: (reason) => {
        this.#generation = randomUUID()
        this.#warnings.warn({ reason }, `the mirror begins anew: ${lossTexts[reason]}`)
        this.#cache.reset()
        this.#reuses = false
        this.#clear()
      },
      onFault: (error) => {
        // the stack matters for a fault of our own, but not for an unreadable message
        const details = error instanceof KvEventError ? { fault: error.message } : { error }
        this.#warnings.warn(details, 'a message of the engine was not understood')
      },
    })
    this.#timer = setInterval(() => this.#sweep(), sweepMilliseconds)
    this.#timer.unref()
  }

  get blockSize(): number {
    return this.#cache.blockSize
  }

  sent(requests: readonly RequestId[], prompts: readonly SentPrompt[]): void {
    const moment = this.#cache.blocks.mark()
    requests.forEach((request, i) => {
      this.#tied.untie(request)
      this.#sent.set(request, { prompt: prompts[i]!, moment, tokens: undefined, endedAt: undefined })
      const [oldest] = this.#sent.keys()
      if (this.#sent.size > maxFollowed) this.#sent.delete(oldest!)
    })
  }

  learn(requests: readonly RequestId[], prompts: readonly AskedPrompt[] | undefined): void {
    requests.forEach((request, i) => {
      const sent = this.#sent.get(request)
      if (sent) sent.tokens = prompts?.length === requests.length ? prompts[i]! : null
    })
  }

  countHeld(request: RequestId): HeldTokens {
    const { tokens, moment } = this.#sent.get(request) ?? {}
    if (!tokens || this.#hidesReuse) return nothingHeld
    const { blockSize } = this.#cache
    // the last token is always computed
    const names = this.#namesOf(tokens).slice(0, Math.max(0, Math.ceil(tokens.tokens.length / blockSize) - 1))
    const device = this.#cache.blocks.countHeld(names, moment)
    const { host, remote } = this.#cache.countBeside(names, device, moment)
    return { device: device * blockSize, host: host * blockSize, remote: remote * blockSize }
  }

  reused(): void {
    this.#reuses = true
  }

  /** Whether the events fail to distinguish inexact blocks from exact ones. */
  get #hidesReuse(): boolean {
    return this.#cache.trustsContent && (this.#reuses || this.#options.mirror.reuse !== undefined)
  }

  ended(requests: readonly RequestId[]): void {
    for (const request of requests) {
      const sent = this.#sent.get(request)
      if (sent) sent.endedAt = this.#options.now()
    }
  }

  failed(requests: readonly RequestId[]): void {
    for (const request of requests) this.#sent.delete(request)
  }

  /** Empty if the engine has not named any block since its start: then it holds none. */
  #namesOf({ tokens, salt }: AskedPrompt): BlockName[] {
    return this.#cache.namesOfPrompt(tokens, salt) ?? []
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#subscriber.close()
  }

  #take(batch: KvEventBatch): void {
    if (batch.unknown > 0)
      this.#warnings.warn({ events: batch.unknown }, 'the engine tells of kinds of events not known')
    for (const event of batch.events) {
      this.#cache.apply(event)
      if (event.type === 'cleared') this.#clear()
    }
  }

  /** Running requests count as cached, as if they had just been sent: the engine reports late that it was cleared. */
  #clear(): void {
    this.#tied.clear()
    this.#options.mirror.report({ type: 'cleared' })
    for (const [request, { prompt }] of this.#sent) this.#options.mirror.cache.resent(request, prompt)
  }

  #sweep(): void {
    const { now, mirror, onGap } = this.#options
    const before = now() - settleMilliseconds
    for (const [request, { tokens, endedAt }] of this.#sent) {
      if (endedAt === undefined || endedAt > before || tokens === undefined) continue
      this.#sent.delete(request)
      this.#settle(request, tokens)
    }
    const { gaps, last: sequence = 0 } = this.#subscriber.order
    for (; this.#gaps < gaps; this.#gaps++) onGap()
    this.#warnings.flush()
    mirror.setState({ mode: this.#mode, generation: this.#generation, sequence })
  }

  get #mode(): MirrorMode {
    const { state } = this.#subscriber.order
    if (state === 'silent') return 'fallback'
    return state === 'whole' && !this.#isBlind ? 'exact' : 'degraded'
  }

  /** Makes the mirror follow the events for a request from now on. */
  #settle(request: RequestId, tokens: AskedPrompt | null): void {
    const { mirror } = this.#options
    const names = tokens ? this.#namesOf(tokens) : []
    const held = this.#cache.blocks.countKept(names)
    const hidesSalt = Boolean(tokens?.salt) && names.length > 0 && held === 0 && this.#cache.hidesSalts
    const isHidden = hidesSalt || this.#hidesReuse
    this.#isBlind = !tokens || isHidden
    // all that the engine holds of it has been reported by now; if the reports hide it, keep the belief from sending
    if (!isHidden) mirror.cache.tokens.forget(request)
    if (tokens) mirror.report({ type: 'used', request, promptTokens: tokens.tokens.length })
    if (isHidden) this.#warnings.warn({}, hidesSalt ? hiddenSalt : hiddenReuse)
    if (!tokens || isHidden) return
    if (held > 0) this.#tied.tie(request, names[held - 1]!)
    // if earlier events are unknown, the engine may hold blocks that we never heard of
    if (this.#subscriber.order.state !== 'whole' && held < names.length) return
    const cachedTokens = held * this.#cache.blockSize
    mirror.report({ type: held > 0 ? 'stored' : 'evicted', request, cachedTokens })
  }
}
