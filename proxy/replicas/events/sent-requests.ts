import type { SentPrompt } from '#index/cache-event.ts'
import type { RequestId } from '#index/context-block.ts'
import type { AskedPrompt } from '../reports/token-asker.ts'

/** A prompt that was sent, and for which it is not yet settled what the engine keeps. */
export interface SentRequest {
  readonly request: RequestId
  readonly prompt: SentPrompt
  /** the mark in the engine's cache at which it was sent */
  readonly moment: number
  /** undefined: not known yet; null: unavailable */
  tokens: AskedPrompt | null | undefined
  /** milliseconds; undefined while it runs */
  endedAt: number | undefined
}

/** At most this many are followed. With more, the engine's answers about tokens lag far behind. */
const maxFollowed = 10_000

/** The prompts that were sent and for which it is not yet settled what the engine keeps. */
export class SentRequests {
  readonly #requests = new Map<RequestId, SentRequest>()

  add(request: RequestId, prompt: SentPrompt, moment: number): void {
    this.#requests.set(request, { request, prompt, moment, tokens: undefined, endedAt: undefined })
    if (this.#requests.size <= maxFollowed) return
    const [oldest] = this.#requests.keys()
    this.#requests.delete(oldest!)
  }

  get(request: RequestId): SentRequest | undefined {
    return this.#requests.get(request)
  }

  delete(request: RequestId): void {
    this.#requests.delete(request)
  }

  /** Sets the tokens of prompts; undefined: they are unavailable. */
  learn(requests: readonly RequestId[], prompts: readonly AskedPrompt[] | undefined): void {
    requests.forEach((id, i) => {
      const sent = this.#requests.get(id)
      if (sent) sent.tokens = prompts?.length === requests.length ? prompts[i]! : null
    })
  }

  /** Notes when requests ended. */
  end(requests: readonly RequestId[], now: number): void {
    for (const id of requests) {
      const sent = this.#requests.get(id)
      if (sent) sent.endedAt = now
    }
  }

  /** Removes and returns the requests that ended at or before a time and whose tokens are known or unavailable. */
  takeEnded(before: number): SentRequest[] {
    const ended = [...this.#requests.values()].filter(
      ({ endedAt, tokens }) => endedAt !== undefined && endedAt <= before && tokens !== undefined,
    )
    for (const { request } of ended) this.#requests.delete(request)
    return ended
  }

  [Symbol.iterator](): Iterator<SentRequest> {
    return this.#requests.values()
  }
}
