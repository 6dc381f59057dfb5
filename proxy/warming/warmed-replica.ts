import type { Replica } from '../replicas/replica.ts'

/** At most these requests and tokens are computed to warm one replica. */
const most = { requests: 64, tokens: 262_144 }
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
  /** sent so far */
  requests = 0
  /** that the engine had not cached */
  tokens = 0
  #covered = 0

  constructor(replica: Replica, until: number) {
    this.replica = replica
    this.until = until
  }

  /** Notes whether the replica would have missed part of what a request found elsewhere. */
  saw(isMissing: boolean): void {
    this.#covered = isMissing ? 0 : this.#covered + 1
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
