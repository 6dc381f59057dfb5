import { scheduleContexts } from './schedule-contexts.ts'

/** A request that waits for others to be grouped with. */
export interface WaitingRequest {
  readonly searchPath: readonly (string | number)[]
}

/**
 * The bounded waiting window of the scheduler (ContextPilot §5.2 online): requests that arrive while the engine is
 * busy are collected for at most `windowMilliseconds` and leave together, grouped by Algorithm 5. With an idle engine
 * nothing waits. Time is an argument: any monotonic clock in milliseconds.
 */
export class GroupWindow<T extends WaitingRequest> {
  readonly #windowMilliseconds: number
  readonly #capacity: number
  #waiting: T[] = []
  #opened = 0

  constructor(windowMilliseconds: number, capacity: number) {
    this.#windowMilliseconds = windowMilliseconds
    this.#capacity = capacity
  }

  /** How many requests wait. */
  get depth(): number {
    return this.#waiting.length
  }

  /** When the window closes; undefined while nothing waits. */
  get closesAt(): number | undefined {
    return this.#waiting.length > 0 ? this.#opened + this.#windowMilliseconds : undefined
  }

  /** Takes a request in; false when the window is full. */
  add(request: T, now: number): boolean {
    if (this.#waiting.length >= this.#capacity) return false
    if (this.#waiting.length === 0) this.#opened = now
    this.#waiting.push(request)
    return true
  }

  /** Takes a request out again that is no longer wanted. */
  remove(request: T): void {
    this.#waiting = this.#waiting.filter((waiting) => waiting !== request)
  }

  /** The requests that leave now, in the order to run them: all when the window has closed or the engine is idle. */
  release(now: number, engineIsIdle: boolean): T[] {
    const closesAt = this.closesAt
    if (closesAt === undefined || (now < closesAt && !engineIsIdle)) return []
    const released = scheduleContexts(this.#waiting, (request) => request.searchPath)
    this.#waiting = []
    return released
  }
}
