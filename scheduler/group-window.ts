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
    if (this.#waiting.length === 0) return undefined
    const closes = this.#opened + this.#windowMilliseconds
    return this.#waiting.reduce((earliest, { deadline = earliest }) => Math.min(earliest, deadline), closes)
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
    // the sort is stable: within a priority the order of the index stays
    const released = scheduleDepthFirst(this.#waiting, ({ searchPath }) => searchPath).sort(
      (a, b) => (a.priority ?? 0) - (b.priority ?? 0),
    )
    this.#waiting = []
    return released
  }
}
