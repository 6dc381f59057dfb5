import { type SearchPath, scheduleDepthFirst } from './schedule-contexts.ts'

/** A request that waits to be grouped with others. */
export interface WaitingRequest {
  /** its path in the index; empty if it shares nothing */
  readonly searchPath: SearchPath
  /** lower runs sooner; default: 0 */
  readonly priority?: number
  /** when it must have left, on the window's clock */
  readonly deadline?: number
}

/**
 * The waiting window of the scheduler (ContextPilot §5.2 online). Requests that arrive while the engine is busy
 * are collected for at most `windowMilliseconds`, or until the first deadline among them. They leave together: by
 * priority, and within a priority in depth-first order of the index. Nothing waits while the engine is idle. No request
 * starves, whatever its priority, because all leave when the window closes. Time is an argument, from any monotonic
 * clock in milliseconds.
 */
export class GroupWindow<T extends WaitingRequest> {
  readonly #waiting = new Set<T>()
  readonly #windowMilliseconds: number
  #opened = 0
  #closesAt = Number.POSITIVE_INFINITY

  constructor(windowMilliseconds: number) {
    this.#windowMilliseconds = windowMilliseconds
  }

  /** The time at which the window closes; undefined while nothing waits. */
  get closesAt(): number | undefined {
    return this.#waiting.size === 0 ? undefined : this.#closesAt
  }

  /** Adds a request. */
  add(request: T, now: number): void {
    if (this.#waiting.size === 0) {
      this.#opened = now
      this.#closesAt = now + this.#windowMilliseconds
    }
    this.#waiting.add(request)
    this.#closesAt = Math.min(this.#closesAt, request.deadline ?? this.#closesAt)
  }

  /** Removes a request that is no longer wanted. Returns false if it is not waiting. */
  remove(request: T): boolean {
    if (!this.#waiting.delete(request)) return false
    if (request.deadline !== undefined) {
      this.#closesAt = this.#opened + this.#windowMilliseconds
      for (const { deadline } of this.#waiting) this.#closesAt = Math.min(this.#closesAt, deadline ?? this.#closesAt)
    }
    return true
  }

  /** Returns all requests in the order to run them if the window has closed or the engine is idle; otherwise none. */
  release(now: number, engineIsIdle: boolean): T[] {
    const closesAt = this.closesAt
    if (closesAt === undefined || (now < closesAt && !engineIsIdle)) return []
    // the sort is stable, so the order of the index is kept within a priority
    const released = scheduleDepthFirst([...this.#waiting], ({ searchPath }) => searchPath).sort(
      (a, b) => (a.priority ?? 0) - (b.priority ?? 0),
    )
    this.#waiting.clear()
    return released
  }
}
