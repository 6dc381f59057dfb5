import { scheduleDepthFirst } from './schedule-depth-first.ts'
import type { SearchPath } from './search-path.ts'

/** A request that waits for others to be grouped with. */
export interface WaitingRequest {
  readonly searchPath: SearchPath
  /** lower runs sooner; 0 when it does not say */
  readonly priority?: number
  /** when it must have left, on the window's clock */
  readonly deadline?: number
}

/**
 * The bounded waiting window of the scheduler (ContextPilot §5.2 online): requests that arrive while the engine is
 * busy are collected for at most `windowMilliseconds`, or up to the first deadline among them, and leave together: by
 * priority, and within a priority in depth-first order of the index. With an idle engine nothing waits, and as all
 * leave when the window closes, none is starved, whatever its priority. Time is an argument: any monotonic clock in
 * milliseconds.
 */
export class GroupWindow<T extends WaitingRequest> {
  readonly #capacity: number
  readonly #waiting = new Set<T>()
  #windowMilliseconds: number
  #opened = 0
  #closesAt = Number.POSITIVE_INFINITY

  constructor(windowMilliseconds: number, capacity: number) {
    this.#windowMilliseconds = windowMilliseconds
    this.#capacity = capacity
  }

  /** How many requests wait. */
  get depth(): number {
    return this.#waiting.size
  }

  /** When the window closes; undefined while nothing waits. */
  get closesAt(): number | undefined {
    return this.#waiting.size === 0 ? undefined : this.#closesAt
  }

  /** Windows that open from now on are so long. */
  resize(windowMilliseconds: number): void {
    this.#windowMilliseconds = windowMilliseconds
  }

  /** Takes a request in; false when the window is full. */
  add(request: T, now: number): boolean {
    if (this.#waiting.size >= this.#capacity) return false
    if (this.#waiting.size === 0) {
      this.#opened = now
      this.#closesAt = now + this.#windowMilliseconds
    }
    this.#waiting.add(request)
    this.#closesAt = Math.min(this.#closesAt, request.deadline ?? this.#closesAt)
    return true
  }

  /** Takes a request out again that is no longer wanted; false when it is not in it. */
  remove(request: T): boolean {
    if (!this.#waiting.delete(request)) return false
    if (request.deadline !== undefined) {
      this.#closesAt = this.#opened + this.#windowMilliseconds
      for (const { deadline } of this.#waiting) this.#closesAt = Math.min(this.#closesAt, deadline ?? this.#closesAt)
    }
    return true
  }

  /** The requests that leave now, in the order to run them: all when the window has closed or the engine is idle. */
  release(now: number, engineIsIdle: boolean): T[] {
    const closesAt = this.closesAt
    if (closesAt === undefined || (now < closesAt && !engineIsIdle)) return []
    // the sort is stable: within a priority the order of the index stays
    const released = scheduleDepthFirst([...this.#waiting], ({ searchPath }) => searchPath).sort(
      (a, b) => (a.priority ?? 0) - (b.priority ?? 0),
    )
    this.#waiting.clear()
    return released
  }
}
