import { DrainRate } from '#scheduler/drain-rate.ts'
import { EngineSlots } from '#scheduler/engine-slots.ts'
import { FairQueue, type FairQueueOptions, type FairRequest } from '#scheduler/fair-queue.ts'
import { GroupWindow, type WaitingRequest } from '#scheduler/group-window.ts'
import { QueueRoom } from '#scheduler/queue-room.ts'
import { ProxyError } from '../common/errors.ts'
import type { Leaving } from '../http/bounds/client-left.ts'

/** What admission needs to know about a request. Requests are told apart by object identity. */
export type AdmissionRequest = FairRequest & WaitingRequest

interface AdmissionOptions {
  /** how long the group window stays open */
  readonly windowMilliseconds: number
  /** requests of all tenants that may wait */
  readonly capacity: number
  /** requests that may be at the engine */
  readonly inFlight?: number
  readonly fairness?: Partial<FairQueueOptions>
  readonly now?: () => number
}

interface Waiting extends AdmissionRequest {
  admit(): void
  refuse(error: ProxyError): void
}

const defaultInFlight = 4_096
const retryAfter = { leastSeconds: 1, mostSeconds: 60 }
/** the longest delay that a Node timer accepts */
const longestTimer = 2 ** 31 - 1

/**
 * Where the requests for one replica wait: turns the scheduler's decisions into promises. A request passes the group
 * window (only if it has something to share, and only while the engine is busy), then the fair queue, then takes a
 * slot.
 */
export class Admission {
  readonly #window: GroupWindow<Waiting>
  readonly #queue: FairQueue<Waiting>
  readonly #room: QueueRoom
  readonly #drainRate = new DrainRate()
  readonly #now: () => number
  readonly #slots = new EngineSlots<AdmissionRequest>()
  readonly #windowMilliseconds: number
  #most: number
  /** tokens to prefill for the waiting requests */
  waitingTokens = 0
  #timer: NodeJS.Timeout | undefined
  #timerAt: number | undefined

  constructor(options: AdmissionOptions) {
    this.#now = options.now ?? (() => performance.now())
    this.#most = options.inFlight ?? defaultInFlight
    this.#windowMilliseconds = options.windowMilliseconds
    this.#window = new GroupWindow(options.windowMilliseconds)
    this.#queue = new FairQueue(options.fairness)
    // counts the window and the queue together
    this.#room = new QueueRoom(options.capacity)
  }

  /** Number of waiting requests. */
  get depth(): number {
    return this.#room.taken
  }

  /** Number of requests at the engine. */
  get inFlight(): number {
    return this.#slots.taken
  }

  /** Whether requests wait until others have ended. */
  get isFull(): boolean {
    return this.#slots.taken >= this.#most
  }

  /** Tokens that the engine has yet to prefill for the requests it was given. */
  get inFlightTokens(): number {
    return this.#slots.tokens
  }

  /** Changes how many requests may be at the engine; those that already are stay. */
  setInFlight(most: number): void {
    this.#most = most
    this.#advance()
  }

  /**
   * Waits until the request may go to the engine. Call `leave` once afterwards, when the request has ended. Rejects
   * with `queue_full`, with `deadline_exceeded`, or with the signal's reason if it aborts; a rejected request needs no
   * `leave`.
   */
  async admit(request: AdmissionRequest, signal: Leaving): Promise<void> {
    signal.throwIfAborted()
    const now = this.#now()
    if (request.deadline !== undefined && request.deadline <= now) throw deadlineExceeded()
    // nothing is queued while a slot is free
    const isFree = !this.isFull
    const isGrouped = this.#isGrouped(request, now)
    if (isFree && !isGrouped) this.#slots.take(request, tokensOf(request))
    else if (this.#room.take(request.tenant)) await this.#wait(request, isGrouped, signal)
    // better ungrouped than refused
    else if (isFree) this.#slots.take(request, tokensOf(request))
    else throw this.#queueFull(now)
  }

  /** Notes that the engine has begun to answer a request: its prompt is prefilled. */
  prefilled(request: AdmissionRequest): void {
    this.#slots.prefilled(request)
  }

  /** Frees the slot of an admitted request that has ended. */
  leave(request: AdmissionRequest): void {
    if (this.#slots.free(request)) this.#advance()
  }

  /** Whether a request waits to be grouped with others. It does not if its deadline would pass in the window. */
  #isGrouped({ searchPath, deadline = Number.POSITIVE_INFINITY }: AdmissionRequest, now: number): boolean {
    return searchPath.length > 0 && this.#slots.taken > 0 && deadline > now + this.#windowMilliseconds
  }

  /** Waits; the caller has already taken room for the request. */
  #wait(request: AdmissionRequest, isGrouped: boolean, signal: Leaving): Promise<void> {
    const [tokens, now] = [tokensOf(request), this.#now()]
    if (this.depth === 1) this.#drainRate.resume(now)
    this.waitingTokens += tokens
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        if (!this.#window.remove(waiting)) this.#queue.remove(waiting)
        stopWaiting()
        this.#setTimer(this.#now())
        reject(signal.reason)
      }
      const stopWaiting = (): void => {
        signal.removeEventListener('abort', onAbort)
        this.#room.give(request.tenant)
        this.waitingTokens -= tokens
      }
      const admit = (): void => {
        stopWaiting()
        // take the slot now: by the time the promise is handled, others may have been admitted
        this.#slots.take(request, tokens)
        resolve()
      }
      const refuse = (error: ProxyError): void => {
        stopWaiting()
        reject(error)
      }
      const waiting: Waiting = { admit, refuse, ...request, tokens }
      signal.addEventListener('abort', onAbort)
      if (isGrouped) this.#window.add(waiting, now)
      else this.#queue.add(waiting, now)
      this.#advance()
    })
  }

  /** Admits or refuses whatever is due. Runs whenever a request arrives or leaves, and when a timer fires. */
  #advance(): void {
    const now = this.#now()
    for (const waiting of this.#window.release(now, this.#slots.taken === 0)) this.#queue.add(waiting, now)
    const { run, expired } = this.#queue.release(now, this.#most - this.#slots.taken)
    if (run.length > 0) this.#drainRate.note(run.length, now)
    for (const waiting of run) waiting.admit()
    for (const waiting of expired) waiting.refuse(deadlineExceeded())
    this.#setTimer(now)
  }

  #setTimer(now: number): void {
    const at = Math.min(
      this.#window.closesAt ?? Number.POSITIVE_INFINITY,
      this.#queue.nextDeadline ?? Number.POSITIVE_INFINITY,
    )
    if (at === this.#timerAt) return
    clearTimeout(this.#timer)
    this.#timerAt = at
    if (at === Number.POSITIVE_INFINITY) return
    const delay = Math.min(Math.max(0, Math.ceil(at - now)), longestTimer)
    this.#timer = setTimeout(() => {
      this.#timerAt = undefined
      this.#advance()
    }, delay)
  }

  #queueFull(now: number): ProxyError {
    const seconds = Math.ceil(this.#drainRate.timeFor(this.depth, now) / 1_000)
    const { leastSeconds, mostSeconds } = retryAfter
    const after = Math.min(Math.max(seconds, leastSeconds), mostSeconds)
    const headers = { 'retry-after': String(after) }
    return new ProxyError('queue_full', `Too many requests wait: try again in ${after} s.`, { headers })
  }
}

/** Counts invalid numbers as zero, so that they do not spoil the sums. */
function tokensOf({ tokens }: AdmissionRequest): number {
  return tokens > 0 && tokens < Number.POSITIVE_INFINITY ? tokens : 0
}

function deadlineExceeded(): ProxyError {
  return new ProxyError('deadline_exceeded', 'The request waited past its deadline: try again, or allow it more time.')
}
