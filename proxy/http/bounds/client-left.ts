/** Whether a client has left, or was given up: like an `AbortSignal`, which takes 6 µs to create and to listen to. */
export class ClientLeft {
  aborted = false
  reason: unknown
  readonly #listeners = new Set<() => void>()

  /** Becomes aborted when this does; for what takes nothing else. */
  get signal(): AbortSignal {
    if (this.aborted) return AbortSignal.abort(this.reason)
    const controller = new AbortController()
    this.addEventListener('abort', () => controller.abort(this.reason))
    return controller.signal
  }

  throwIfAborted(): void {
    if (this.aborted) throw this.reason
  }

  addEventListener(_: 'abort', listener: () => void): void {
    this.#listeners.add(listener)
  }

  removeEventListener(_: 'abort', listener: () => void): void {
    this.#listeners.delete(listener)
  }

  /** Only the first call counts. */
  abort(reason: unknown): void {
    if (this.aborted) return
    this.aborted = true
    this.reason = reason
    for (const listener of this.#listeners) listener()
  }
}

/** Says when a request is given up. */
export type Leaving = Omit<ClientLeft, 'abort' | 'signal'>
