import type { RequestId } from '#index/context-block.ts'
import type { RecordKind } from './mirror-feed.ts'

/** All has begun anew: nothing is held but what is told of next; `cleared`: no request is known any more, either. */
export type Reset = 'replaced' | 'cleared'

/** What is to be written of a request; `bucket` is known of one that is gone. */
export interface MirrorChange {
  readonly kind: RecordKind
  readonly bucket: number
}

/** More are not waited with: then everything is written anew, once it can be. */
const maxWaiting = 1 << 20

/** What has changed in a mirror and is not in Redis yet: of each request the last. */
export class MirrorChanges {
  readonly #waiting = new Map<RequestId, MirrorChange>()
  #hasOverflowed = false

  /** Requests with a change. */
  get size(): number {
    return this.#waiting.size
  }

  /** Whether there were more than could wait; asking makes it no longer so. */
  takeOverflow(): boolean {
    const had = this.#hasOverflowed
    this.#hasOverflowed = false
    return had
  }

  peek(request: RequestId): MirrorChange | undefined {
    return this.#waiting.get(request)
  }

  /** A change; of one that is still to be written as a whole, a change of its head needs no mention. */
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
   * All has begun anew: what was believed to be held of requests no longer counts, but what their tokens were counted to
   * be does; `cleared`: they are gone, too.
   */
  reset(type: Reset): void {
    if (type === 'cleared') this.#waiting.clear()
    for (const [request, { kind, bucket }] of this.#waiting) {
      if (kind === 'p') this.#waiting.set(request, { kind: 'u', bucket })
    }
  }

  /** Takes changes out, oldest first, one at a time. */
  *take(): Generator<[RequestId, MirrorChange]> {
    for (const [request, change] of this.#waiting) {
      this.#waiting.delete(request)
      yield [request, change]
    }
  }

  /** Puts back what could not be written, unless it has changed since; a new one may be there by now. */
  putBack(request: RequestId, { kind, bucket }: MirrorChange): void {
    const since = this.#waiting.get(request)
    const again = { kind: kind === 'w' ? ('r' as const) : kind, bucket }
    if (!since || rank[again.kind] > rank[since.kind]) this.#waiting.set(request, again)
  }
}

const rank = { u: 0, p: 1, r: 2, w: 3, g: 3 } as const

/** Whether what is to be written now says more than what was to be written before. */
function isMore(kind: RecordKind, before: RecordKind): boolean {
  return rank[kind] > rank[before] || (rank[kind] === 3 && kind !== before)
}
