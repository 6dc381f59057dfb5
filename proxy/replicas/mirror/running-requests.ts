import type { SentPrompt } from '#index/cache-event.ts'
import type { RequestId } from '#index/context-block.ts'
import type { Contradiction } from '#index/mirror/believed-cache.ts'

interface Running {
  readonly prompt: SentPrompt
  /** tokens believed to be cached; undefined: the engine's count will not be compared */
  readonly predicted: number | undefined
  /** the oldest request that was running when it was sent */
  readonly until: RequestId
  /** tokens that the engine reused and recomputed; undefined if it has not said so */
  recomputedTokens: number | undefined
}

/** An engine caches whole pages, and the estimate of tokens by characters is off by a few per cent. */
const slackTokens = 64
const slackShare = 0.1

/** The requests sent to an engine that have not ended, in the order they were sent. */
export class RunningRequests extends Map<RequestId, Running> {
  begin(request: RequestId, prompt: SentPrompt, predicted: number | undefined): void {
    const [until = request] = this.keys()
    this.set(request, { prompt, predicted, until, recomputedTokens: undefined })
  }

  /** Notes how many of the reused tokens the engine recomputed. */
  recomputed(request: RequestId, tokens: number): void {
    const running = this.get(request)
    if (running) running.recomputedTokens = tokens
  }

  /** Returns how the engine's count of cached tokens contradicts the prediction; undefined if they agree. */
  contradicts(request: RequestId, promptTokens: number, cachedTokens: number | undefined): Contradiction | undefined {
    const running = this.get(request)
    if (!running || running.predicted === undefined || cachedTokens === undefined) return undefined
    const { prompt, predicted, until } = running
    if (cachedTokens + slackTokens + predicted * slackShare >= predicted || prompt.length === 0) return undefined
    return { prompt, cachedTokens, tokensPerCharacter: promptTokens / prompt.length, until }
  }
}
