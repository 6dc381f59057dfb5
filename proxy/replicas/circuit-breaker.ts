/** When a circuit breaker opens, and for how long. */
interface BreakerOptions {
  /** consecutive failures of any kind after which it opens */
  readonly failuresInARow: number
  /** failures to reach the engine within the window after which it opens */
  readonly failuresInWindow: number
  readonly windowMilliseconds: number
  readonly openMilliseconds: number
}

/** Defaults for engines that take a minute to start. */
const breakerDefaults: BreakerOptions = {
  failuresInARow: 5,
  failuresInWindow: 20,
  windowMilliseconds: 30_000,
  openMilliseconds: 10_000,
}

/** `half_open`: it has been open for long enough to send a probe. */
type BreakerState = 'closed' | 'open' | 'half_open'

/** Statuses by which an engine, or a proxy in front of it, says that it cannot answer. */
const notReady = new Set([502, 503, 504])

/**
 * Keeps requests away from a replica that cannot be reached. A connection that fails, or breaks before the head of the
 * answer, is a failure; an answer, even a 500, is not. A 502, 503 or 504 counts only as one of consecutive failures: a
 * starting engine returns nothing else, a full one returns other answers in between. An open breaker lets nothing
 * through for `openMilliseconds`, then one probe. If a probe is not answered for the same time, another is let through:
 * the head of an answer may take minutes.
 */
export class CircuitBreaker {
  readonly #now: () => number
  readonly #options: BreakerOptions
  #inARow = 0
  /** times of the latest failures to reach the engine, oldest first */
  #unreachable: number[] = []
  #openedAt: number | undefined
  #probedAt: number | undefined
  #lastFault: string | undefined

  constructor(options: Partial<BreakerOptions> = {}, now: () => number = () => performance.now()) {
    this.#options = { ...breakerDefaults, ...options }
    this.#now = now
  }

  /** The current state. */
  get state(): BreakerState {
    if (this.#openedAt === undefined) return 'closed'
    return this.#isOver(this.#openedAt) ? 'half_open' : 'open'
  }

  /** The reason of the latest failure. */
  get lastFault(): string | undefined {
    return this.#lastFault
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
    if (notReady.has(status)) this.#failed(`it answers with ${status}`)
    else if (this.state !== 'open') this.#close()
  }

  /** The connection failed, or broke before the head of an answer. */
  unreachable(fault = 'it cannot be reached'): void {
    if (this.state === 'closed') {
      this.#unreachable.push(this.#now())
      this.#unreachable = this.#unreachable.slice(-this.#options.failuresInWindow)
    }
    this.#failed(fault)
  }

  #failed(fault: string): void {
    const { state } = this
    this.#lastFault = fault
    // requests sent before it opened may fail now too
    if (state === 'open') return
    this.#inARow += 1
    if (state === 'half_open' || this.#inARow >= this.#options.failuresInARow || this.#isWindowFull()) this.#open()
  }

  #isWindowFull(): boolean {
    const { failuresInWindow, windowMilliseconds } = this.#options
    const [oldest] = this.#unreachable
    return this.#unreachable.length >= failuresInWindow && this.#now() - oldest! < windowMilliseconds
  }

  #open(): void {
    this.#close()
    this.#openedAt = this.#now()
  }

  #close(): void {
    // an answer ends a run of failures, but the window is kept unless the breaker was open
    this.#inARow = 0
    if (this.#openedAt !== undefined) this.#unreachable = []
    this.#openedAt = undefined
    this.#probedAt = undefined
  }

  #isOver(since: number | undefined): boolean {
    return since === undefined || this.#now() - since >= this.#options.openMilliseconds
  }
}
