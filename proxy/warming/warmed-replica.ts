import type { SentPrompt } from '#index/cache-event.ts'
import type { Replica } from '../replicas/replica.ts'

/** At most these requests and tokens are computed to warm one replica. */
const most = { requests: 64, tokens: 262_144 }
/** A replica misses a prefix if others hold more of it than this: about what its engine computes in one step. */
export const missingTokens = 256
/** After so many requests in a row of which it would have found as much as any other, a replica counts as equal. */
const mostCovered = 16

/** Why warming ended. */
type WarmEnd = 'nothing_missing' | 'requests' | 'tokens' | 'time' | 'left'

/** One replica that is being warmed. */
export class WarmedReplica {
  readonly replica: Replica
  /** milliseconds, monotonic */
  readonly until: number
  /** a warm-up request of ours is at its engine */
  isBusy = false
  /** hot prompts that it was sent */
  readonly hotSent: WeakSet<SentPrompt> = new WeakSet()
  /** sent so far */
  requests = 0
  /** that the engine had not cached */
  tokens = 0
  #covered = 0

  constructor(replica: Replica, until: number) {
    this.replica = replica
    this.until = until
  }

  /**
   * Returns whether the replica would have missed a part of a request, of which the one that runs it holds `elsewhere`
   * tokens, and it `held` itself. A request of which nothing worth a warm-up is held says nothing of how warm it is.
   */
  isMissing(elsewhere: number, held: number): boolean {
    const isMissing = elsewhere - held >= missingTokens
    if (isMissing) this.#covered = 0
    else if (Math.min(elsewhere, held) >= missingTokens) this.#covered += 1
    return isMissing
  }

  /** Why warming is over; undefined: it is not. */
  endedBy(now: number): WarmEnd | undefined {
    if (this.replica.isLeaving) return 'left'
    if (now >= this.until) return 'time'
    if (this.requests >= most.requests) return 'requests'
    if (this.tokens >= most.tokens) return 'tokens'
    return this.#covered >= mostCovered ? 'nothing_missing' : undefined
  }
}
