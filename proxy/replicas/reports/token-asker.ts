import { LRUCache } from 'lru-cache'
import { askEngine } from '#engine-adapters/ask-engine.ts'
import type { EngineAdapter } from '#engine-adapters/engine-adapter.ts'
import type { EngineClient } from '#engine-adapters/engine-client.ts'
import type { PromptTokens } from '#index/mirror/token-mirror.ts'
import { credentialsOf } from '../../access/engine-credentials.ts'
import { readTokens, type SentBody, type TokenQuestions, tokenQuestions } from './token-question.ts'

/** The tokens of one prompt of a request, and the salt that separates its cache. */
export interface AskedPrompt extends PromptTokens {
  readonly salt: string | undefined
}

interface AskedRequest extends SentBody {
  /** names and values alternating, as sent to the engine */
  readonly headers: readonly string[]
}

/** Tokens of past prompts to keep, at 4 bytes each. */
const keptTokens = 4_000_000
/** Few, because the engine's real requests come first. */
const questionsAtOnce = 4
const questionsWaiting = 256
const timeoutMilliseconds = 10_000
const refusedMilliseconds = 60_000
/** The endpoint is not enabled (vLLM 0.32), does not exist, or is not implemented. */
const refusals = new Set([403, 404, 405, 501])

/** Asks an engine for the tokens of prompts sent to it, once per prompt, a few at a time. */
export class TokenAsker {
  readonly #engine: EngineClient
  readonly #adapter: Pick<EngineAdapter, 'tokenQuestions'>
  readonly #known = new LRUCache<string, readonly Uint32Array[]>({
    maxSize: keptTokens,
    sizeCalculation: (prompts) => prompts.reduce((sum, tokens) => sum + tokens.length, 1),
  })
  readonly #asked = new Map<string, Promise<readonly Uint32Array[] | undefined>>()
  readonly #waiting: (() => void)[] = []
  /** questions that are not urgent */
  readonly #later: (() => void)[] = []
  /** paths that the engine does not serve; expires, since the engine may be restarted with others */
  readonly #refused = new LRUCache<string, true>({ max: 16, ttl: refusedMilliseconds })
  #running = 0

  constructor(engine: EngineClient, adapter: Pick<EngineAdapter, 'tokenQuestions'>) {
    this.#engine = engine
    this.#adapter = adapter
  }

  /**
   * Returns the tokens of each prompt of a request; undefined if they are unavailable. Never rejects. `isUrgent`: goes
   * before questions that are not urgent, which leave one place free for it.
   */
  async tokensOf(request: AskedRequest, isUrgent = true): Promise<readonly AskedPrompt[] | undefined> {
    const question = tokenQuestions(this.#adapter, request)
    if (!question) return undefined
    const prompts = await this.#find(question, request.headers, isUrgent)
    const { salt, scope } = question
    return prompts?.map((tokens) => ({ tokens, scope, salt }))
  }

  async #find(
    question: TokenQuestions,
    headers: readonly string[],
    isUrgent: boolean,
  ): Promise<readonly Uint32Array[] | undefined> {
    const known = this.#known.get(question.key) ?? this.#asked.get(question.key)
    if (known) return known
    const waiting = isUrgent ? this.#waiting : this.#later
    if (waiting.length >= questionsWaiting) return undefined
    const asked = this.#ask(question, headers, isUrgent)
    this.#asked.set(question.key, asked)
    const prompts = await asked
    this.#asked.delete(question.key)
    if (prompts) this.#known.set(question.key, prompts)
    return prompts
  }

  async #ask(
    { ways }: TokenQuestions,
    headers: readonly string[],
    isUrgent: boolean,
  ): Promise<Uint32Array[] | undefined> {
    const waiting = isUrgent ? this.#waiting : this.#later
    if (this.#running >= questionsAtOnce - (isUrgent ? 0 : 1)) {
      await new Promise<void>((resolve) => waiting.push(resolve))
    }
    this.#running += 1
    try {
      for (const { path, body } of ways) {
        if (this.#refused.has(path)) continue
        const signal = AbortSignal.timeout(timeoutMilliseconds)
        const answer = await askEngine(this.#engine, { path, json: body, headers: credentialsOf(headers) }, signal)
        if (answer?.status === 200) return readTokens(answer.text)
        if (answer && refusals.has(answer.status)) this.#refused.set(path, true)
      }
      return undefined
    } finally {
      this.#running -= 1
      const next = this.#waiting.shift() ?? this.#later.shift()
      next?.()
    }
  }
}
