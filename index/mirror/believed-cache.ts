import type { CacheEvent, SentPrompt } from '../cache-event.ts'
import type { RequestId } from '../context-block.ts'

/** How much of one request is believed to be cached. */
export interface BelievedRequest {
  readonly request: RequestId
  /** length of the cached prefix of the prompt, in characters */
  readonly cachedLength: number
  readonly tokensPerCharacter: number
}

/** The part of a mirror that is needed to cut beliefs. */
export interface BelievedCache {
  /** total tokens held; shared tokens count once */
  readonly heldTokens: number
  /** Estimates the number of tokens in this many characters. */
  estimateTokens(characters: number): number
  /** Yields every request, oldest first, including those sent during the iteration. */
  requestIds(): Generator<RequestId>
  /** Returns what is held of a request; undefined if nothing is. */
  heldOf(request: RequestId): BelievedRequest | undefined
  /**
   * Returns the requests sent before `until` that hold the prefix at index `place` of a prompt, oldest first; none if
   * `until` is unknown.
   */
  holdersOf(prompt: Pick<SentPrompt, 'prefixes' | 'ends'>, place: number, until: RequestId): readonly RequestId[]
  /** Returns how many of a request's held characters other requests hold too. */
  sharedLengthOf(held: BelievedRequest): number
}

/** Receives how much of a request is believed to be left. */
export type BeliefCut = (event: CacheEvent & { readonly type: 'evicted' }) => void
