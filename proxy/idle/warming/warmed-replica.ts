import type { ScopeId } from '#index/context-block.ts'
import type { Replica } from '../../replicas/replica.ts'

/** At most these requests and tokens are computed to warm one replica. */
const most = { requests: 64, tokens: 262_144 }
/** A replica misses a prefix if others hold more of it than this: about what its engine computes in one step. */
export const missingTokens = 256
/** After so many requests in a row of which it would have found as much as any other, a replica counts as equal. */
const mostCovered = 16

/** How long an engine that has come may take to load its model, in milliseconds. */
const longestStart = 600_000

/** How long an engine that has not answered is left alone. */
const retryMilliseconds = 1_000

/** Why warming ended. */
type WarmEnd = 'nothing_missing' | 'requests' | 'tokens' | 'time' | 'left'

/** One replica that is being warmed. */
export class WarmedReplica {
  readonly replica: Replica
  /** when warming ends, in milliseconds, monotonic */
  until: number
  /** a warm-up request of ours is at its engine */
  isBusy = false
  /** beginnings of hot prompts that it was sent */
  readonly hotSent: Set<ScopeId> = new Set()
  /** when it may be sent something again, in milliseconds, monotonic */
  notBefore = 0
  /** sent so far */
  requests = 0
  /** that the engine had not cached */
  tokens = 0
  #covered = 0
  readonly #milliseconds: number
  readonly #latest: number

  /** `now`, `milliseconds`: when warming begins, and how long it takes once the engine answers. */
  constructor(replica: Replica, now: number, milliseconds: number) {
    this.replica = replica
    this.#milliseconds = milliseconds
    this.#latest = now + milliseconds + longestStart
    this.until = now + milliseconds
  }

  /** The engine does not answer: unless it has before, it is still being started, and time does not count yet. */
  putOff(now: number): void {
    this.notBefore = now + retryMilliseconds
    if (this.tokens === 0) this.until = Math.min(now + this.#milliseconds, this.#latest)
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
