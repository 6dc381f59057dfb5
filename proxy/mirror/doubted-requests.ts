import type { RequestId } from '#index/context-block.ts'

/** Requests that ended before the engine had said anything: it may have begun with them or not, as its reports will tell. */
export class DoubtedRequests {
  /** when they ended, in milliseconds; the longest ago first */
  readonly #endedAt = new Map<RequestId, number>()

  add(request: RequestId, now: number): void {
    this.#endedAt.set(request, now)
  }

  /** Takes out those that ended before a time. */
  *takeEnded(before: number): Generator<RequestId> {
    for (const [request, endedAt] of this.#endedAt) {
      if (endedAt > before) return
      this.#endedAt.delete(request)
      yield request
    }
  }
}
