import type { SentPrompt } from '#index/cache-event.ts'
import type { RequestId } from '#index/context-block.ts'
import type { Contradiction } from '#index/mirror/contradicted-belief.ts'

interface Running {
  readonly prompt: SentPrompt
  /** tokens that were believed to be cached; undefined: nobody is going to ask */
  readonly predicted: number | undefined
  /** the first of those that ran when it was sent */
  readonly until: RequestId
  /** tokens of it that the engine reused and computed again; undefined: it has not said so */
  recomputedTokens: number | undefined
}

/** An engine caches whole pages, and the estimate of tokens by characters is off by a few in a hundred. */
const slackTokens = 64
const slackShare = 0.1

/** The requests that an engine has been given and has not ended, in the order they were sent. */
export class RunningRequests {
  readonly #requests = new Map<RequestId, Running>()

  begin(request: RequestId, prompt: SentPrompt, predicted: number | undefined): void {
    const [until = request] = this.#requests.keys()
    this.#requests.set(request, { prompt, predicted, until, recomputedTokens: undefined })
  }

  end(request: RequestId): void {
    this.#requests.delete(request)
  }

  /** The prompts of all of them. */
  *all(): Generator<[RequestId, SentPrompt]> {
    for (const [request, { prompt }] of this.#requests) yield [request, prompt]
  }

  /** Of the tokens that the engine reused, so many were computed again. */
  recomputed(request: RequestId, tokens: number): void {
    const running = this.#requests.get(request)
    if (running) running.recomputedTokens = tokens
  }

  /** What the engine has said of that; undefined: nothing. */
  recomputedOf(request: RequestId): number | undefined {
    return this.#requests.get(request)?.recomputedTokens
  }

  /** What the engine's count of cached tokens denies of what was believed; undefined when they agree. */
  contradicts(request: RequestId, promptTokens: number, cachedTokens: number | undefined): Contradiction | undefined {
    const running = this.#requests.get(request)
    if (!running || running.predicted === undefined || cachedTokens === undefined) return undefined
    const { prompt, predicted, until } = running
    if (cachedTokens + slackTokens + predicted * slackShare >= predicted || prompt.length === 0) return undefined
    return { prompt, cachedTokens, tokensPerCharacter: promptTokens / prompt.length, until }
  }
}
