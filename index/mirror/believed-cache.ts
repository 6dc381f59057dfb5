import type { CacheEvent, MirroredPrompt, SentPrompt } from '../cache-event.ts'
import type { RequestId } from '../context-block.ts'

/** What is believed to be held of one request. */
export interface BelievedRequest {
  readonly request: RequestId
  /** characters of the prompt that are held */
  readonly cachedLength: number
  readonly tokensPerCharacter: number
}

/** What of a mirror is needed to believe less of it. */
export interface BelievedCache {
  /** tokens of all that is held, what is shared counted once */
  readonly heldTokens: number
  /** How many tokens so many characters are taken for. */
  estimateTokens(characters: number): number
  /** Every request, those sent longest ago first; goes on through those sent meanwhile. */
  requestIds(): Generator<RequestId>
  /** What is held of a request; undefined when that is nothing. */
  heldOf(request: RequestId): BelievedRequest | undefined
  /** The prompt of a request; undefined when it is not remembered. */
  promptOf(request: RequestId): MirroredPrompt | undefined
  /** The requests that hold the prefix of a prompt that ends at a place, those sent longest ago first. */
  holdersOf(prompt: Pick<SentPrompt, 'prefixes' | 'ends'>, place: number): readonly RequestId[]
  /** How many of the characters that a request holds others hold as well. */
  sharedLengthOf(held: BelievedRequest): number
}

/** Told how much of a request is believed to be left. */
export type BeliefCut = (event: CacheEvent & { readonly type: 'evicted' }) => void
