/** Lets one holder in at a time, in the order of arrival. */
export class FifoLock {
  #last: Promise<void> = Promise.resolve()

  /** Waits for a turn and returns the function that ends it. Rejects, and leaves the queue, when `signal` aborts. */
  async enter(signal: AbortSignal): Promise<() => void> {
    let leave = (): void => {}
    const left = new Promise<void>((resolve) => {
      leave = resolve
    })
    const before = this.#last
    this.#last = before.then(() => left)
    try {
      await untilAborted(before, signal)
    } catch (cause) {
      leave()
      throw cause
    }
    return leave
  }
}

function untilAborted(promise: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    promise.finally(() => signal.removeEventListener('abort', abort)).then(resolve, reject)
  })
}
