import type { SentPrompt } from '#index/cache-event.ts'
import type { RequestId } from '#index/context-block.ts'
import type { AskedPrompt } from './token-asker.ts'

/** A prompt that was sent, and of which it is not settled yet what the engine keeps. */
export interface SentRequest {
  readonly request: RequestId
  readonly prompt: SentPrompt
  /** the moment in the engine's cache at which it was sent */
  readonly moment: number
  /** undefined: not known yet; null: they cannot be had */
  tokens: AskedPrompt | null | undefined
  /** milliseconds; undefined: it runs */
  endedAt: number | undefined
}

/** More are not followed: the engine's answer about their tokens is far behind. */
const maxFollowed = 10_000

/** The prompts that were sent, until it is settled what the engine keeps of them. */
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

  /** What its prompts' tokens are; undefined: they cannot be had. */
  learn(requests: readonly RequestId[], prompts: readonly AskedPrompt[] | undefined): void {
    requests.forEach((id, i) => {
      const sent = this.#requests.get(id)
      if (sent) sent.tokens = prompts?.length === requests.length ? prompts[i]! : null
    })
  }

  /** The engine has ended with it. */
  end(requests: readonly RequestId[], now: number): void {
    for (const id of requests) {
      const sent = this.#requests.get(id)
      if (sent) sent.endedAt = now
    }
  }

  /** Takes out those that ended before a time and whose tokens are known, or will not be. */
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

  get size(): number {
    return this.#requests.size
  }
}
