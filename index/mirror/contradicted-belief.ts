import type { SentPrompt } from '../cache-event.ts'
import type { RequestId } from '../context-block.ts'
import type { BeliefCut, BelievedCache } from './believed-cache.ts'

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
  for (const request of cache.holdersOf(prompt, missed, until)) cut({ type: 'evicted', request, cachedTokens })
}
