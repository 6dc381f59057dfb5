/** Says when a request is given up: like an `AbortSignal`, which takes 6 µs to create and to listen to. */
export interface Leaving {
  readonly aborted: boolean
  readonly reason: unknown
  throwIfAborted(): void
  addEventListener(type: 'abort', listener: () => void): void
  removeEventListener(type: 'abort', listener: () => void): void
}

/** Whether a client has left, or was given up. */
export class ClientLeft implements Leaving {
  aborted = false
  reason: unknown
  readonly #listeners = new Set<() => void>()

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
