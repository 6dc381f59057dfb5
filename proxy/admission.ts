import { GroupWindow, type WaitingRequest } from '#scheduler/group-window.ts'
import { ProxyError } from './errors.ts'

interface Waiting extends WaitingRequest {
  admit(): void
}

/** The place where requests wait: turns the scheduler's decisions into promises. */
export class Admission {
  readonly #window: GroupWindow<Waiting>
  readonly #now: () => number
  #timer: NodeJS.Timeout | undefined
  #inFlight = 0

  constructor(options: { windowMilliseconds: number; capacity: number; now?: () => number }) {
    this.#window = new GroupWindow(options.windowMilliseconds, options.capacity)
    this.#now = options.now ?? (() => performance.now())
  }

  /** Requests that wait. */
  get depth(): number {
    return this.#window.depth
  }

  /**
   * Waits until the request may go to the engine; `leave` must be called once afterwards, when it has ended. A request
   * with nothing to share (an empty search path) does not wait. Rejects when the window is full or the signal aborts.
   */
  async admit(request: WaitingRequest, signal: AbortSignal): Promise<void> {
    if (request.searchPath.length > 0 && this.#inFlight > 0) await this.#wait(request, signal)
    this.#inFlight += 1
  }

  /** A request that was admitted has ended. */
  leave(): void {
    this.#inFlight -= 1
    if (this.#inFlight === 0) this.#release()
  }

  #wait(request: WaitingRequest, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        this.#window.remove(waiting)
        reject(signal.reason)
      }
      const waiting: Waiting = {
        ...request,
        admit: () => {
          signal.removeEventListener('abort', onAbort)
          resolve()
        },
      }
      if (!this.#window.add(waiting, this.#now())) {
        reject(new ProxyError('queue_full', 'Too many requests wait: try again.', { headers: { 'retry-after': '1' } }))
        return
      }
      signal.addEventListener('abort', onAbort, { once: true })
      this.#setTimer()
    })
  }

  /** Whatever comes or goes may change when the window closes. */
  #setTimer(): void {
    clearTimeout(this.#timer)
    const closesAt = this.#window.closesAt
    this.#timer =
      closesAt === undefined ? undefined : setTimeout(() => this.#release(), Math.max(0, closesAt - this.#now()))
  }

  #release(): void {
    const released = this.#window.release(this.#now(), this.#inFlight === 0)
    for (const waiting of released) waiting.admit()
    this.#setTimer()
  }
}
