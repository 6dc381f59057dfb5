import { EventEmitter, once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import type { CacheRequest, CacheSequence, PrefixCache } from './cache/prefix-cache.ts'
import type { CacheReport } from './cache/request-ledger.ts'
import type { OutputText } from './text/canned-text.ts'

/** One prompt to compute and continue. */
export interface EngineRequest extends Pick<CacheRequest, 'requestId' | 'salt' | 'wish'> {
  prompt: Uint32Array
  /** At least 1; prompt and output together must fit in the cache. */
  outputTokens: number
  /** What is said; undefined: the engine's own text. */
  text?: OutputText | undefined
}

export interface OutputToken {
  index: number
  text: string
  /** Prompt tokens found in the cache. */
  cachedTokens: number
  /** Prompt tokens whose KV was reused from another position; undefined if the engine does not do that. */
  reusedTokens: number | undefined
  /** The same, but found there and recomputed. */
  recomputedTokens?: number | undefined
}

interface EngineCoreOptions {
  cache: PrefixCache
  /** what is said to every prompt that brings no answer of its own */
  text: OutputText
  prefillTokensPerSecond: number
  onReports: (reports: CacheReport[]) => void
}

const decodeMilliseconds = 5
const quadraticTokens = 32_768
const longestTimer = 2 ** 31 - 1

/**
 * Seconds a prefill takes: the uncached tokens at the given rate, plus attention over the whole prompt. The
 * quadratic term equals the linear term for 32,768 tokens without a hit. Tokens reused from another position may be
 * anywhere after the cached ones: they save their share of both terms.
 */
export function prefillSeconds(
  promptTokens: number,
  cachedTokens: number,
  tokensPerSecond: number,
  reusedTokens = 0,
): number {
  const linear = promptTokens - cachedTokens
  const quadratic = (promptTokens ** 2 - cachedTokens ** 2) / quadraticTokens
  return ((linear + quadratic) * (linear - reusedTokens)) / linear / tokensPerSecond
}

/** The engine behind the HTTP routes: prefills one prompt at a time, decodes all of them concurrently, and caches. */
export class EngineCore {
  readonly #options: EngineCoreOptions
  /** ends with the last prefill that has been asked for */
  #prefills: Promise<void> = Promise.resolve()
  readonly #events = new EventEmitter()
  #prefillEnd = 0

  constructor(options: EngineCoreOptions) {
    this.#options = options
  }

  /** Yields the output token by token at an engine's pace. When the generator ends, the request frees its space. */
  async *generate(request: EngineRequest, signal: AbortSignal): AsyncGenerator<OutputToken, void, void> {
    const promptTokens = request.prompt.length
    const sequence = this.#options.cache.open({ ...request, tokens: this.#withOutput(request), promptTokens })
    await this.#prefill(sequence, promptTokens, signal)
    let computed = promptTokens
    try {
      const start = performance.now()
      for (let index = 0; index < request.outputTokens; index++) {
        await delayUntil(start + index * decodeMilliseconds, signal)
        computed = promptTokens + index
        const { cachedTokens, reused } = sequence
        const text = (request.text ?? this.#options.text).text(index)
        yield { index, text, cachedTokens, reusedTokens: reused?.kept, recomputedTokens: reused?.recomputed }
      }
    } finally {
      this.#release(sequence, computed)
    }
  }

  /** Empties the cache. Returns false while a request runs, as the engines do. */
  clearCache(): boolean {
    const cleared = this.#options.cache.clear()
    this.#report()
    return cleared
  }

  async #prefill(sequence: CacheSequence, promptTokens: number, signal: AbortSignal): Promise<void> {
    let ready = performance.now()
    const turn = this.#prefills.then(async () => {
      signal.throwIfAborted()
      while (!sequence.acquire()) {
        await once(this.#events, 'released', { signal })
        ready = performance.now()
      }
      this.#report()
      await this.#compute(sequence, promptTokens, ready, signal)
    })
    this.#prefills = turn.catch(() => {})
    await turn
  }

  async #compute(sequence: CacheSequence, promptTokens: number, ready: number, signal: AbortSignal): Promise<void> {
    // start at the planned end of the previous prefill, not when its late timer fired: a millisecond each would add up
    const start = Math.max(ready, this.#prefillEnd)
    const { cachedTokens, reused } = sequence
    this.#prefillEnd =
      start + prefillSeconds(promptTokens, cachedTokens, this.#options.prefillTokensPerSecond, reused?.kept) * 1000
    try {
      await delayUntil(this.#prefillEnd, signal)
    } catch (cause) {
      this.#prefillEnd = performance.now()
      this.#release(sequence, 0)
      throw cause
    }
    sequence.computed(promptTokens)
    this.#report()
  }

  #release(sequence: CacheSequence, computed: number): void {
    sequence.release(computed)
    this.#report()
    this.#events.emit('released')
  }

  #report(): void {
    const reports = this.#options.cache.takeReports()
    if (reports.length > 0) this.#options.onReports(reports)
  }

  #withOutput({ prompt, outputTokens, text = this.#options.text }: EngineRequest): Uint32Array {
    const tokens = new Uint32Array(prompt.length + outputTokens)
    tokens.set(prompt)
    for (let index = 0; index < outputTokens; index++) tokens[prompt.length + index] = text.token(index)
    return tokens
  }
}

async function delayUntil(time: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  for (let left = time - performance.now(); left > 0; left = time - performance.now()) {
    await delay(Math.min(left, longestTimer), undefined, { signal })
  }
}
