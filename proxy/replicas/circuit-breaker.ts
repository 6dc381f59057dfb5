/** When a circuit breaker opens, and for how long. */
export interface BreakerOptions {
  /** failures in a row, of any kind, after which it opens */
  readonly failuresInARow: number
  /** failures to reach the engine, within the window, after which it opens */
  readonly failuresInWindow: number
  readonly windowMilliseconds: number
  readonly openMilliseconds: number
}

/** What suits engines that take a minute to start. */
export const breakerDefaults: BreakerOptions = {
  failuresInARow: 5,
  failuresInWindow: 20,
  windowMilliseconds: 30_000,
  openMilliseconds: 10_000,
}

/** `half_open`: it has been open for long enough, and a probe is to find out. */
export type BreakerState = 'closed' | 'open' | 'half_open'

/** Statuses by which an engine, or what stands in front of it, says that it is not there to answer. */
const notReady = new Set([502, 503, 504])

/**
 * Keeps requests from a replica that cannot be reached. Failures are connections that cannot be made, or break off
 * before a head; an answer, even a 500, is none. A 502, 503 or 504 is one only among failures in a row: an engine that
 * is starting gives nothing else, one that is merely full gives answers in between. Once open it lets nothing through,
 * then one probe, and another each time the last has not been answered for as long as it was open: the head of an
 * answer may take minutes.
 */
export class CircuitBreaker {
  readonly #now: () => number
  #options: BreakerOptions
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

  /** Changes the options that are given, from the next failure on. */
  setOptions(options: Partial<BreakerOptions>): void {
    this.#options = { ...this.#options, ...options }
  }

  /** Where it stands now. */
  get state(): BreakerState {
    if (this.#openedAt === undefined) return 'closed'
    return this.#isOver(this.#openedAt) ? 'half_open' : 'open'
  }

  /** How the latest request failed that counts as a failure. */
  get lastFault(): string | undefined {
    return this.#lastFault
  }

  /** Whether a request may be sent now. */
  get isPassable(): boolean {
    const { state } = this
    return state === 'closed' || (state === 'half_open' && this.#isOver(this.#probedAt))
  }

  /** A request is about to be sent: if one is to find out whether the replica is back, it is this. */
  begin(): void {
    if (this.state === 'half_open') this.#probedAt = this.#now()
  }

  /** The head of an answer has come. */
  answered(status: number): void {
    if (notReady.has(status)) this.#failed(`it answers with ${status}`)
    else if (this.state !== 'open') this.#close()
  }

  /** No connection could be made, or it broke off before the head of an answer. */
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
    // those that were sent before it opened fail now too
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
    // an answer in between ends a row of failures, but the window stays until the breaker changes
    this.#inARow = 0
    if (this.#openedAt !== undefined) this.#unreachable = []
    this.#openedAt = undefined
    this.#probedAt = undefined
  }

  #isOver(since: number | undefined): boolean {
    return since === undefined || this.#now() - since >= this.#options.openMilliseconds
  }
}
