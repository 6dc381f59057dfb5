import type { SentPrompt } from '#index/cache-event.ts'
import type { ApiKeys } from '../../access/api-keys.ts'
import type { Call, RoutedCall } from '../../call/call.ts'
import type { TripFollower } from '../../call/trip.ts'
import type { Log } from '../../common/log.ts'
import type { Replica } from '../../replicas/replica.ts'
import type { ReplicaSet } from '../../replicas/replica-set.ts'
import { computeAgain } from './compute-again.ts'
import { HotPrompts, type KeptLimits, nameOf, type RunPrompt, runOf } from './hot-prompts.ts'
import { missingTokens, WarmedReplica } from './warmed-replica.ts'

/** How many hot prompts are kept in memory for replicas that come. */
const mostHotPrompts = 32

/** How a warm-up request ended. `interrupted`: a client needed the engine, time was up, or the engine left. */
type WarmUpOutcome = 'warmed' | 'interrupted' | 'failed'

interface WarmerOptions {
  readonly replicas: ReplicaSet
  /** how long a replica is warmed; 0: not at all */
  readonly seconds: () => number
  /** whether one still lacks what is to be computed first */
  readonly owes: (replica: Replica) => boolean
  readonly onWarmUp: (outcome: WarmUpOutcome, tokens: number) => void
  readonly log: Pick<Log, 'info' | 'error'>
  /** milliseconds, monotonic */
  readonly now: () => number
}

/**
 * Warms replicas that come beside others: with the hot prompts of the last hour, and with requests that find part of
 * their prompt cached elsewhere, which the new replica misses. They are sent there once more, for one token. One at a
 * time, and only while the replica is idle: a client's request breaks it off.
 */
export class Warmer {
  readonly #options: WarmerOptions
  readonly #warmed = new Map<Replica, WarmedReplica>()
  #hot = new HotPrompts()
  readonly #closing = new AbortController()
  /** whether a caller with this key would be let in now */
  admits: ApiKeys['admits'] = () => true

  constructor(options: WarmerOptions) {
    this.#options = options
  }

  /** Begins to warm replicas that have come, unless something is known of what they hold. */
  begin(replicas: readonly Replica[]): void {
    const { seconds, now, log } = this.#options
    if (seconds() === 0) return
    for (const replica of replicas) {
      if (replica.mirror.statistics.requests > 0) continue
      const warmed = new WarmedReplica(replica, now(), seconds() * 1000)
      this.#warmed.set(replica, warmed)
      replica.warming = warmed
      log.info({ replica: replica.id, seconds: seconds() }, 'a replica has come: it is warmed')
    }
  }

  /** Ends warming where it is over, and sends the next hot prompt elsewhere; to be called periodically. */
  tick(): void {
    this.#hot.expire(this.#limits, this.#options.now())
    for (const [replica, warmed] of this.#warmed) {
      if (replica.state === 'unhealthy' || replica.state === 'open') warmed.putOff(this.#options.now())
      const ended_by = warmed.endedBy(this.#options.now())
      if (ended_by === undefined) {
        this.#sendHot(warmed)
        continue
      }
      this.#warmed.delete(replica)
      replica.warming = undefined
      this.#options.log.info(
        { replica: replica.id, requests: warmed.requests, tokens: warmed.tokens, ended_by },
        'warming has ended',
      )
    }
  }

  /** Returns what keeps a request as hot, and sends it to replicas that miss its beginning, if there is anything to do. */
  follow(call: Call, routed: RoutedCall): TripFollower | undefined {
    const { now } = this.#options
    const of = runOf(call, routed)
    if (of === undefined) return undefined
    const missing = this.#missing(call, routed, of.prompt)
    const isHot = this.#limits.prompts > 0 && routed.decision.predictedCachedTokens >= missingTokens
    if (missing.length === 0 && !isHot) return undefined
    // another one, once it is cleared
    const hot = this.#hot
    let run: RunPrompt | undefined
    return {
      sent: (request) => {
        const own = { ...of, request }
        run = own
        // behind the client's own request, since reading a large body takes a few milliseconds
        if (missing.length > 0) setImmediate(() => missing.forEach((warmed) => void this.#warm(warmed, own)))
      },
      ended: (wasRun) => {
        if (isHot && wasRun && run) hot.note(run, this.#limits, now())
      },
    }
  }

  /** Forgets the hot prompts, also those under way. */
  clear(): void {
    this.#hot = new HotPrompts()
  }

  /** Stops what is running. */
  close(): void {
    this.#closing.abort()
  }

  /** The replicas being warmed that miss what another holds of a request, and are idle. */
  #missing(call: Call, { replica: from, decision }: RoutedCall, prompt: SentPrompt): WarmedReplica[] {
    if (this.#warmed.size === 0 || this.#warmed.has(from)) return []
    const serving = this.#options.replicas.models.serving(call.model)
    return [...this.#warmed.values()].filter((warmed) => {
      const { replica } = warmed
      if (replica.state !== 'ready' || replica.adapter !== from.adapter || !serving?.includes(replica)) return false
      const held = replica.mirror.predictCachedTokens(prompt)
      return warmed.isMissing(decision.predictedCachedTokens, held) && this.#isFree(warmed)
    })
  }

  /** Sends a replica the hottest prompt that it misses and was not sent before, and then the next. */
  #sendHot(warmed: WarmedReplica): void {
    const { replicas, now } = this.#options
    const { replica, hotSent } = warmed
    if (replica.state !== 'ready' || !this.#isFree(warmed)) return
    const { mirror } = replica
    const next = this.#hot.hottest.find((hot) => {
      const { model, from, beginning } = hot
      if (hotSent.has(nameOf(hot)) || from.adapter !== replica.adapter) return false
      if (!replicas.models.serving(model)?.includes(replica)) return false
      return mirror.estimatePromptTokens(beginning) - mirror.predictCachedTokens(beginning) >= missingTokens
    })
    if (!next) return
    hotSent.add(nameOf(next))
    void this.#warm(warmed, next).then((isOver) => {
      if (!isOver) hotSent.delete(nameOf(next))
      else if (warmed.endedBy(now()) === undefined && !this.#closing.signal.aborted) this.#sendHot(warmed)
    })
  }

  #isFree({ replica, isBusy, notBefore }: WarmedReplica): boolean {
    return !isBusy && this.#options.now() >= notBefore && replica.requests === 0 && !this.#options.owes(replica)
  }

  get #limits(): KeptLimits {
    return { prompts: this.#options.seconds() === 0 ? 0 : mostHotPrompts, admits: this.admits }
  }

  /** Sends a prompt, unless a client or another warm-up is there. Returns false if it is to be sent again. */
  async #warm(warmed: WarmedReplica, run: RunPrompt): Promise<boolean> {
    const { onWarmUp, log, now } = this.#options
    const { replica } = warmed
    if (warmed.isBusy || replica.requests > 0) return false
    warmed.isBusy = true
    try {
      const left = { milliseconds: warmed.until - now(), closing: this.#closing.signal }
      const tokens = await computeAgain(run, replica, left)
      if (tokens === 'unwritable') return true
      const isCut = tokens === 'interrupted' || (tokens === undefined && replica.isLeaving)
      const outcome = isCut ? 'interrupted' : typeof tokens === 'number' ? 'warmed' : 'failed'
      const computed = typeof tokens === 'number' ? tokens : 0
      if (tokens === undefined) warmed.putOff(now())
      else warmed.requests += 1
      warmed.tokens += computed
      onWarmUp(outcome, computed)
      return outcome === 'warmed' || tokens === 'refused'
    } catch (error) {
      onWarmUp('failed', 0)
      log.error({ error, replica: replica.id }, 'a replica is not warmed: internal error')
      return true
    } finally {
      warmed.isBusy = false
    }
  }
}
