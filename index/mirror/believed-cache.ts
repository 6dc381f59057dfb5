import type { CacheEvent, SentPrompt } from '../cache-event.ts'
import type { RequestId } from '../context-block.ts'
import type { CacheMirror } from './cache-mirror.ts'
import type { BelievedRequest } from './mirror-listener.ts'

/** The part of a mirror that is needed to cut beliefs. */
export type BelievedCache = Pick<CacheMirror, 'heldTokens' | 'requestIds' | 'heldOf' | 'holdersOf' | 'sharedLengthOf'>

/** Receives how much of a request is believed to be left. */
export type BeliefCut = (event: CacheEvent & { readonly type: 'evicted' }) => void

/** Beliefs that expire, for an engine whose evictions and cache size are both unknown. */
export class ExpiringBelief {
  readonly #cut: BeliefCut
  /** in order of time */
  readonly #usedAt = new Map<RequestId, number>()

  /** Everything already held counts as used `now`. */
  constructor(cache: BelievedCache, now: number, cut: BeliefCut) {
    this.#cut = cut
    for (const request of cache.requestIds()) this.#usedAt.set(request, now)
  }

  /** Records that a request was sent, which uses its whole prompt. */
  note(request: RequestId, now: number): void {
    this.#usedAt.delete(request)
    this.#usedAt.set(request, now)
  }

  /** Drops the belief in every request last used before a time. Prefixes that later requests share stay believed. */
  expire(before: number): void {
    for (const [request, usedAt] of this.#usedAt) {
      if (usedAt >= before) return
      this.#usedAt.delete(request)
      this.#cut({ type: 'evicted', request, cachedTokens: 0 })
    }
  }
}

/**
 * Assumed evictions of an engine that reports none. An engine evicts the least recently used content, from its tail. A
 * prompt that finds a prefix holds it too, so the oldest requests alone hold only what nobody has used since.
 */
export class AssumedEvictions {
  readonly #cache: BelievedCache
  readonly #cut: BeliefCut
  #ids: Generator<RequestId>
  /** request that lost its tail; it is cut first when more has to go */
  #halved: RequestId | undefined

  constructor(cache: BelievedCache, cut: BeliefCut) {
    this.#cache = cache
    this.#cut = cut
    this.#ids = cache.requestIds()
  }

  /** Cuts beliefs until they fit. `inWhole`: the engine evicts everything that only one request holds at once. */
  fit(capacityTokens: number, inWhole = false): void {
    // one round is enough: requests that hold nothing alone are dropped on the way
    let rounds = 0
    while (this.#cache.heldTokens > capacityTokens && rounds < 2) {
      const oldest = this.#takeOldest()
      if (oldest) this.#shorten(oldest, inWhole ? Number.POSITIVE_INFINITY : this.#cache.heldTokens - capacityTokens)
      else {
        rounds += 1
        this.#ids = this.#cache.requestIds()
      }
    }
  }

  /** Releases the iterator; do not use this object afterwards. */
  close(): void {
    this.#ids.return(undefined)
  }

  #shorten(held: BelievedRequest, surplus: number): void {
    const { request, cachedLength, tokensPerCharacter } = held
    const own = (cachedLength - this.#cache.sharedLengthOf(held)) * tokensPerCharacter
    const cachedTokens = own > surplus ? Math.floor(cachedLength * tokensPerCharacter - surplus) : 0
    const before = this.#cache.heldTokens
    this.#cut({ type: 'evicted', request, cachedTokens })
    // what cannot be cut is left, and another one follows
    if (cachedTokens > 0 && this.#cache.heldTokens < before) this.#halved = request
  }

  #takeOldest(): BelievedRequest | undefined {
    const halved = this.#halved && this.#cache.heldOf(this.#halved)
    this.#halved = undefined
    if (halved) return halved
    for (let next = this.#ids.next(); !next.done; next = this.#ids.next()) {
      const held = this.#cache.heldOf(next.value)
      if (held) return held
    }
    return undefined
  }
}

/** What an engine reported as cached when it started a prompt. */
export interface Contradiction {
  readonly prompt: Pick<SentPrompt, 'prefixes' | 'ends'>
  readonly cachedTokens: number
  readonly tokensPerCharacter: number
  /** This request and later ones may have stored what was missing: they were sent while the prompt waited or ran. */
  readonly until: RequestId
}

/** Cuts every request sent before `until` and believed to hold more of a prompt's text than the engine found cached. */
export function cutContradicted(cache: BelievedCache, contradiction: Contradiction, cut: BeliefCut): void {
  const { prompt, cachedTokens, tokensPerCharacter, until } = contradiction
  const missed = prompt.ends.findIndex((end) => end * tokensPerCharacter > cachedTokens)
  if (missed < 0) return
  const holders = cache.holdersOf(prompt.prefixes, missed + 1, cachedTokens / tokensPerCharacter, until)
  for (const request of holders) cut({ type: 'evicted', request, cachedTokens })
}
