import { RefusedError, UnreachableError } from '../common/errors.ts'

/** When a circuit breaker opens, and for how long. */
interface BreakerOptions {
  /** consecutive failures after which it opens */
  readonly failuresInARow: number
  readonly openMilliseconds: number
}

/** Defaults for engines that take a minute to start. */
const breakerDefaults: BreakerOptions = { failuresInARow: 5, openMilliseconds: 10_000 }

/** `half_open`: it has been open for long enough to send a probe. */
type BreakerState = 'closed' | 'open' | 'half_open'

/** Statuses by which an engine, or a proxy in front of it, says that it cannot answer. */
const notReady = new Set([502, 503, 504])

/**
 * Keeps requests away from a replica that cannot be reached. A connection that fails, or breaks before the head of the
 * answer, is a failure, and so is a 502, 503 or 504: a starting engine returns nothing else, a full one returns other
 * answers in between. Any other answer, even a 500, is none. An open breaker lets nothing through for
 * `openMilliseconds`, then one probe. If a probe is not answered for the same time, another is let through: the head of
 * an answer may take minutes.
 */
export class CircuitBreaker {
  readonly #now: () => number
  readonly #options: BreakerOptions
  #inARow = 0
  #openedAt: number | undefined
  #probedAt: number | undefined
  /** the reason of the latest failure */
  lastFault: string | undefined

  constructor(options: BreakerOptions = breakerDefaults, now: () => number = () => performance.now()) {
    this.#options = options
    this.#now = now
  }

  /** The current state. */
  get state(): BreakerState {
    if (this.#openedAt === undefined) return 'closed'
    return this.#isOver(this.#openedAt) ? 'half_open' : 'open'
  }

  /** Whether a request may be sent now. */
  get isPassable(): boolean {
    const { state } = this
    return state === 'closed' || (state === 'half_open' && this.#isOver(this.#probedAt))
  }

  /** A request is about to be sent. If the breaker is half open, this request is the probe. */
  begin(): void {
    if (this.state === 'half_open') this.#probedAt = this.#now()
  }

  /** The head of an answer has arrived. */
  answered(status: number): void {
    if (notReady.has(status)) this.unreachable(`it answers with ${status}`)
    else if (this.state !== 'open') this.#set(undefined)
  }

  /** A request was not answered. A fault of ours says nothing of the engine. */
  failed(error: unknown): void {
    if (error instanceof UnreachableError && !error.isOurs) this.unreachable(error.reason)
    if (error instanceof RefusedError) this.answered(error.status)
  }

  /** The connection failed, or broke before the head of an answer. */
  unreachable(fault = 'it cannot be reached'): void {
    const { state } = this
    this.lastFault = fault
    // requests sent before it opened may fail now too
    if (state === 'open') return
    this.#inARow += 1
    if (state === 'half_open' || this.#inARow >= this.#options.failuresInARow) this.#set(this.#now())
  }

  #set(openedAt: number | undefined): void {
    this.#inARow = 0
    this.#openedAt = openedAt
    this.#probedAt = undefined
  }

  #isOver(since: number | undefined): boolean {
    return since === undefined || this.#now() - since >= this.#options.openMilliseconds
  }
}
