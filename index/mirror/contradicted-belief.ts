import type { SentPrompt } from '../cache-event.ts'
import type { RequestId } from '../context-block.ts'
import type { BeliefCut, BelievedCache } from './believed-cache.ts'

/** What an engine said it had cached of a prompt when it began with it. */
export interface Contradiction {
  readonly prompt: Pick<SentPrompt, 'prefixes' | 'ends'>
  readonly cachedTokens: number
  readonly tokensPerCharacter: number
  /** Requests from this one on were sent while it waited or ran, and may have stored what it did not find. */
  readonly until: RequestId
}

/** An engine found less of a prompt than was believed: whoever was to hold more of the same text does not. */
export function cutContradicted(cache: BelievedCache, contradiction: Contradiction, cut: BeliefCut): void {
  const { prompt, cachedTokens, tokensPerCharacter, until } = contradiction
  const missed = prompt.ends.findIndex((end) => end * tokensPerCharacter > cachedTokens)
  if (missed < 0) return
  for (const request of cache.holdersOf(prompt, missed)) {
    if (request === until) return
    cut({ type: 'evicted', request, cachedTokens })
  }
}
