import type { EngineRequest } from '#engine-adapters/engine-client.ts'
import { tryObject } from '#engine-adapters/json-object.ts'
import { promptOnly } from '#engine-adapters/prompt-api.ts'
import type { ApiKeys } from '../../access/api-keys.ts'
import { credentialsOf } from '../../access/engine-credentials.ts'
import { tenantName } from '../../access/tenancy.ts'
import type { Call, RoutedCall } from '../../call/call.ts'
import type { TripFollower } from '../../call/trip.ts'
import type { Log } from '../../common/log.ts'
import type { KeepOutcome, PinOutcome } from '../../common/reasons.ts'
import type { Replica } from '../../replicas/replica.ts'
import type { ReplicaSet } from '../../replicas/replica-set.ts'
import { computeAgain } from '../warming/compute-again.ts'
import { runOf } from '../warming/hot-prompts.ts'
import { missingTokens } from '../warming/warmed-replica.ts'
import { findMarks } from './find-marks.ts'
import { type MarkedRequest, type Pin, PinBook, type PinLimits } from './pin-book.ts'

interface PinKeeperOptions {
  readonly replicas: ReplicaSet
  readonly limits: () => PinLimits & { readonly refreshSeconds?: number }
  /** `pinned`, `used`, or why a mark pins nothing */
  readonly onMark: (outcome: PinOutcome) => void
  /** hears how many tokens are pinned, each second */
  readonly onTokens: (tokens: number) => void
  readonly onKeep: (outcome: KeepOutcome, computedTokens: number) => void
  readonly log: Pick<Log, 'error'>
  /** milliseconds, monotonic */
  readonly now: () => number
}

/** How long a prompt may go unasked before it is asked for again, so that an LRU cache does not evict it. */
const refreshSeconds = 30
const tickMilliseconds = 1_000
/** Marked prompts that have no such member are not looked at. */
const markBytes = Buffer.from('"cache_control"')

/**
 * Keeps what `cache_control` marks say is worth caching in the engines that were asked for it: while a pin lasts it is
 * sent again, for one token, before an engine forgets it, when an engine has lost it, and first of all to one that has
 * come. Text of prompts is kept for that, in memory alone.
 */
export class PinKeeper {
  readonly #options: PinKeeperOptions
  #book = new PinBook()
  readonly #busy = new Set<Replica>()
  readonly #closing = new AbortController()
  #nextTick = 0
  /** whether a caller with this key would be let in now */
  admits: ApiKeys['admits'] = () => true

  constructor(options: PinKeeperOptions) {
    this.#options = options
  }

  /** Returns what pins the prompt of a request once its engine has run it, if it has marks. */
  follow(call: Call, routed: RoutedCall): TripFollower | undefined {
    const { api, content } = call
    if (this.#options.limits().tokens === 0 || (api !== 'chat_completions' && api !== 'messages')) return undefined
    const marked = runOf(call, routed)
    if (!marked || !content.received.prompt || !content.body.includes(markBytes)) return undefined
    // another one, once all are unpinned
    const book = this.#book
    let tokens = routed.decision.promptTokens
    let sent: EngineRequest | undefined
    return {
      sent: (request) => {
        sent = request
      },
      used: ({ promptTokens }) => {
        tokens = promptTokens
      },
      ended: (wasRun) => {
        const request = sent
        if (wasRun && request) setImmediate(() => this.#note(book, { ...marked, tokens }, request))
      },
    }
  }

  /** Whether a replica that has come still lacks pins, which it gets before anything else. */
  owes(replica: Replica): boolean {
    return this.#pinsOf(replica).some(({ held }) => held.get(replica.id)?.at === undefined)
  }

  /** Forgets pins that are over, and sends what is due; to be called periodically. */
  tick(): void {
    const { now, replicas, limits, onTokens } = this.#options
    if (now() < this.#nextTick) return
    this.#nextTick = now() + Math.min(tickMilliseconds, this.#refreshMilliseconds)
    this.#book.expire(now(), limits(), this.admits)
    onTokens(this.#book.tokens)
    for (const replica of replicas.all) {
      // whatever it held is gone, or may be
      const isEmpty = replica.state !== 'ready' || replica.mirror.statistics.requests === 0
      for (const { held } of this.#pinsOf(replica)) if (isEmpty || !held.has(replica.id)) held.set(replica.id, {})
      this.#serve(replica)
    }
  }

  /** Describes the pins for the control plane. */
  describe(): object {
    const { limits, now, replicas } = this.#options
    this.#book.expire(now(), limits(), this.admits)
    const pins = this.#book.all.map(({ prefix, tenant, model, tokens, expires, held, prompt }) => {
      const at = replicas.all.filter(({ id }) => held.has(id))
      const cached_tokens = Object.fromEntries(at.map(({ id, mirror }) => [id, mirror.predictCachedTokens(prompt)]))
      const seconds = Math.max(0, Math.ceil((expires - now()) / 1_000))
      return {
        id: prefix,
        tenant: tenantName(tenant),
        model: model ?? null,
        tokens,
        expires_in_seconds: seconds,
        cached_tokens,
      }
    })
    const { tokens, tenantTokens } = limits()
    return { tokens: this.#book.tokens, limit_tokens: tokens, tenant_limit_tokens: tenantTokens, pins }
  }

  /** Unpins one. Returns false if there is none of this name. */
  remove(id: string): boolean {
    return this.#book.delete(id)
  }

  /** Unpins all, and pins nothing that is under way. */
  clear(): void {
    this.#book = new PinBook()
  }

  /** Stops what is running. */
  close(): void {
    this.#closing.abort()
  }

  get #refreshMilliseconds(): number {
    return 1_000 * (this.#options.limits().refreshSeconds ?? refreshSeconds)
  }

  #note(book: PinBook, marked: Omit<MarkedRequest, 'request'>, { body, headers, ...rest }: EngineRequest): void {
    const { limits, onMark, log, now } = this.#options
    try {
      const members = Buffer.isBuffer(body) ? tryObject(body.toString()) : undefined
      if (!members || !this.admits(marked.key)) return
      const own = JSON.stringify({ ...promptOnly(members), cache_salt: members.cache_salt })
      const request = { ...rest, headers: credentialsOf(headers), body: Buffer.from(own) }
      const found = findMarks(marked.tenant, marked.api, members)
      for (const outcome of book.note({ ...marked, request }, found, limits(), now())) onMark(outcome)
      for (let i = 0; i < found.unknown; i++) onMark('unknown')
    } catch (error) {
      log.error({ error }, 'a prompt is not pinned: internal error')
    }
  }

  /** The pins that a replica is to hold: those that it was asked for, and all that it can serve while it is warmed. */
  #pinsOf(replica: Replica): Pin[] {
    const { models } = this.#options.replicas
    return this.#book.all.filter(({ held, model, from }) => {
      if (from.adapter !== replica.adapter || !models.serving(model)?.includes(replica)) return false
      return (held.has(replica.id) || replica.warming) && !held.get(replica.id)?.isRefused
    })
  }

  /** Sends a replica what is due and was asked for longest ago, and then the next. */
  #serve(replica: Replica): void {
    if (replica.state !== 'ready' || this.#busy.has(replica) || this.#closing.signal.aborted) return
    const timeOf = ({ held }: Pin): number => held.get(replica.id)?.at ?? -1
    const due = this.#pinsOf(replica).filter((pin) => this.#isDue(pin, replica))
    const [next] = due.toSorted((a, b) => timeOf(a) - timeOf(b))
    if (next) void this.#keep(next, replica)
  }

  /** What an engine holds is asked for in time, also beside clients: that costs a step. What it lost waits until it is idle. */
  #isDue(pin: Pin, replica: Replica): boolean {
    const at = pin.held.get(replica.id)?.at
    const now = this.#options.now()
    const isOld = pin.expires > now && (at === undefined || now - at >= this.#refreshMilliseconds)
    return isOld && (replica.requests === 0 || !isMissing(pin, replica))
  }

  /** Sends a pin, and then what else is due; a fault of ours ends that until the next tick. */
  async #keep(pin: Pin, replica: Replica): Promise<void> {
    const { onKeep, log, now } = this.#options
    const { expires, held } = pin
    const closing = this.#closing.signal
    this.#busy.add(replica)
    const send = async () => {
      const isBesideClients = !isMissing(pin, replica)
      return computeAgain(pin, replica, { milliseconds: expires - now(), closing, isBesideClients })
    }
    const computed = await send()
      .catch((error: unknown) => {
        log.error({ error, replica: replica.id }, 'a pinned prompt is not sent again: internal error')
        return 'faulty' as const
      })
      .finally(() => this.#busy.delete(replica))
    const isLost = typeof computed === 'number' && isLoss(computed, replica)
    if (computed === 'unwritable') held.set(replica.id, { isRefused: true })
    else if (computed === 'interrupted') onKeep('interrupted', 0)
    else {
      held.set(replica.id, { at: now(), isLost, isRefused: computed === 'refused' })
      if (typeof computed === 'number') onKeep(isLost ? 'computed' : 'held', computed)
      else onKeep('failed', 0)
    }
    if (computed !== 'faulty') this.#serve(replica)
  }
}

function isMissing({ prompt, held }: Pin, replica: Replica): boolean {
  const { mirror, id } = replica
  if (held.get(id)?.isLost) return true
  return isLoss(mirror.estimatePromptTokens(prompt) - mirror.predictCachedTokens(prompt), replica)
}

/** Whether so many tokens are more than an engine computes of a prompt that it holds: up to a page of its cache. */
function isLoss(tokens: number, { statedCache }: Replica): boolean {
  return tokens > Math.max(missingTokens, statedCache?.pageTokens ?? 0)
}
