import type { RequestId } from '#index/context-block.ts'

/** Requests that ended before the engine answered. Its reports will show whether it had started on them. */
export class DoubtedRequests {
  /** when they ended, in milliseconds; oldest first */
  readonly #endedAt = new Map<RequestId, number>()

  add(request: RequestId, now: number): void {
    this.#endedAt.set(request, now)
  }

  /** Removes and yields the requests that ended at or before a time. */
  *takeEnded(before: number): Generator<RequestId> {
    for (const [request, endedAt] of this.#endedAt) {
      if (endedAt > before) return
      this.#endedAt.delete(request)
      yield request
    }
  }
}
