import { randomUUID } from 'node:crypto'
import type { EngineRequest } from '#engine-adapters/engine-client.ts'
import type { RequestId } from '#index/context-block.ts'
import type { Call, RoutedCall } from '../call/call.ts'
import type { TripFollower } from '../call/trip.ts'
import type { Log } from '../log.ts'
import type { Replica } from '../replicas/replica.ts'
import type { ReplicaSet } from '../replicas/replica-set.ts'
import { withoutClients } from '../replicas/without-clients.ts'
import { computePrompt } from './compute-prompt.ts'
import { WarmedReplica } from './warmed-replica.ts'
import { longestBody, writeWarmUp } from './write-warm-up.ts'

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
 * Warms replicas that come beside others. No text of a prompt is kept for that: a request that finds part of its prompt
 * cached elsewhere, which the new replica misses, is sent there once more at the same time, for one token. So what is
 * asked for most comes first. One request at a time, and only while the replica is idle: a client's request breaks it
 * off.
 */
export class Warmer {
  readonly #options: WarmerOptions
  readonly #warmed = new Map<Replica, WarmedReplica>()
  readonly #closing = new AbortController()

  constructor(options: WarmerOptions) {
    this.#options = options
  }

  /** Begins to warm replicas that have come, unless something is known of what they hold. */
  begin(replicas: readonly Replica[]): void {
    const { seconds, now, log } = this.#options
    if (seconds() === 0) return
    for (const replica of replicas) {
      if (replica.mirror.statistics.requests > 0) continue
      const warmed = new WarmedReplica(replica, now() + seconds() * 1000)
      this.#warmed.set(replica, warmed)
      replica.warming = warmed
      log.info({ replica: replica.id, seconds: seconds() }, 'a replica has come: it is warmed')
    }
  }

  /** Ends warming where it is over; to be called periodically. */
  tick(): void {
    for (const [replica, warmed] of this.#warmed) {
      const ended_by = warmed.endedBy(this.#options.now())
      if (ended_by === undefined) continue
      this.#warmed.delete(replica)
      replica.warming = undefined
      this.#options.log.info(
        { replica: replica.id, requests: warmed.requests, tokens: warmed.tokens, ended_by },
        'warming has ended',
      )
    }
  }

  /** Returns what sends a request to replicas that miss its beginning, if there are any. */
  follow(call: Call, routed: RoutedCall): TripFollower | undefined {
    if (this.#warmed.size === 0 || this.#warmed.has(routed.replica)) return undefined
    const { decision } = routed
    const [prompt] = decision.sent
    if (!prompt || decision.sent.length > 1 || call.isRefused || call.content.body.length > longestBody)
      return undefined
    const serving = this.#options.replicas.models.serving(call.model)
    const missing = [...this.#warmed.values()].filter((warmed) => {
      const { replica } = warmed
      if (replica.adapter !== routed.replica.adapter || !serving?.includes(replica)) return false
      const held = replica.mirror.predictCachedTokens(prompt)
      const isMissing = warmed.isMissing(decision.predictedCachedTokens, held)
      return isMissing && !warmed.isBusy && replica.requests === 0 && !this.#options.owes(replica)
    })
    if (missing.length === 0) return undefined
    return {
      sent: (request) => {
        // behind the client's own request, since reading a large body takes a few milliseconds
        setImmediate(() => {
          for (const warmed of missing) void this.#warm(warmed, call.api, routed, request)
        })
      },
    }
  }

  /** Stops what is running. */
  close(): void {
    this.#closing.abort()
  }

  async #warm(
    warmed: WarmedReplica,
    api: Call['api'],
    { replica: from, decision }: RoutedCall,
    request: EngineRequest,
  ): Promise<void> {
    const { onWarmUp, log, now } = this.#options
    const { replica } = warmed
    if (warmed.isBusy || replica.requests > 0) return
    const id = randomUUID() as RequestId
    warmed.isBusy = true
    try {
      const warmUp = writeWarmUp(request, { api, from, to: replica, id })
      if (!warmUp) return
      const left = AbortSignal.timeout(Math.max(0, Math.ceil(warmed.until - now())))
      const signal = AbortSignal.any([this.#closing.signal, left])
      const send = (own: AbortSignal) => computePrompt(replica, { api, id, prompt: decision.sent[0]!, warmUp }, own)
      const tokens = await withoutClients(replica, signal, send)
      const isCut = tokens === 'interrupted' || (tokens === undefined && replica.isLeaving)
      const outcome = isCut ? 'interrupted' : typeof tokens === 'number' ? 'warmed' : 'failed'
      const computed = typeof tokens === 'number' ? tokens : 0
      warmed.requests += 1
      warmed.tokens += computed
      onWarmUp(outcome, computed)
    } catch (error) {
      onWarmUp('failed', 0)
      log.error({ error, replica: replica.id }, 'a replica is not warmed: internal error')
    } finally {
      warmed.isBusy = false
    }
  }
}
