import type { RequestId } from '#index/context-block.ts'
import type { RecordKind } from './mirror-feed.ts'

/**
 * The replica's state was reset. `replaced`: nothing counts as cached until reported again. `cleared`: forget the
 * requests too.
 */
export type Reset = 'replaced' | 'cleared'

/** The change to write for a request. `bucket` is set only for a request that is gone. */
export interface MirrorChange {
  readonly kind: RecordKind
  readonly bucket: number
}

/** At most this many changes wait. Beyond that everything is written again, once that is possible. */
const maxWaiting = 1 << 20

/** The changes of a mirror that are not in Redis yet: the latest one of each request. */
export class MirrorChanges {
  readonly #waiting = new Map<RequestId, MirrorChange>()
  #hasOverflowed = false

  /** The number of requests with a change. */
  get size(): number {
    return this.#waiting.size
  }

  /** Returns whether more changes came than can wait, and resets that flag. */
  takeOverflow(): boolean {
    const had = this.#hasOverflowed
    this.#hasOverflowed = false
    return had
  }

  peek(request: RequestId): MirrorChange | undefined {
    return this.#waiting.get(request)
  }

  /** Queues a change. A change of the head is dropped if the whole record is still to be written. */
  put(request: RequestId, kind: RecordKind, bucket = 0): void {
    const before = this.#waiting.get(request)
    if (before && !isMore(kind, before.kind)) return
    this.#waiting.set(request, { kind, bucket })
    if (this.#waiting.size <= maxWaiting) return
    this.#waiting.clear()
    this.#hasOverflowed = true
  }

  delete(request: RequestId): void {
    this.#waiting.delete(request)
  }

  /**
   * Applies a reset: what was held of requests no longer counts, but their token counts still do. `cleared`: the
   * requests are gone, too.
   */
  reset(type: Reset): void {
    if (type === 'cleared') this.#waiting.clear()
    for (const [request, { kind, bucket }] of this.#waiting) {
      if (kind === 'held') this.#waiting.set(request, { kind: 'counted', bucket })
    }
  }

  /** Removes and yields the changes, oldest first. */
  *take(): Generator<[RequestId, MirrorChange]> {
    for (const [request, change] of this.#waiting) {
      this.#waiting.delete(request)
      yield [request, change]
    }
  }

  /** Puts back a change that could not be written, unless a newer one says more. A new record may have been written. */
  putBack(request: RequestId, { kind, bucket }: MirrorChange): void {
    const since = this.#waiting.get(request)
    const again = { kind: kind === 'written' ? ('rewritten' as const) : kind, bucket }
    if (!since || rank[again.kind] > rank[since.kind]) this.#waiting.set(request, again)
  }
}

const rank = { counted: 0, held: 1, rewritten: 2, written: 3, gone: 3 } as const

/** Whether a change says more than the one that waits. */
function isMore(kind: RecordKind, before: RecordKind): boolean {
  return rank[kind] > rank[before] || (rank[kind] === 3 && kind !== before)
}
