import type { CacheEvent, SentPrompt } from './cache-event.ts'
import type { Context, RequestId, ScopeId } from './context-block.ts'
import { ContextIndex, type ContextMatch } from './context-index.ts'

interface MirroredRequest {
  readonly prompt: SentPrompt
  /** as the engine counted them; undefined until it has */
  promptTokens: number | undefined
  cachedLength: number
}

/** English prose is about four characters a token; replaced by what the engine reports. */
const initialTokensPerCharacter = 0.25

/**
 * What one replica is believed to have cached: the index of the contexts it holds, by what stands in front of them,
 * and the prefixes of the prompts it was sent. Bounded by the number of requests; the oldest go first.
 * `apply` is the only writer.
 */
export class CacheMirror {
  readonly #maxRequests: number
  readonly #requests = new Map<RequestId, MirroredRequest>()
  readonly #indexes = new Map<ScopeId, ContextIndex>()
  readonly #prefixHolders = new Map<ScopeId, number>()
  #tokensPerCharacter = initialTokensPerCharacter
  #unknownRequests = 0

  constructor(maxRequests: number) {
    this.#maxRequests = maxRequests
  }

  /** Context search among the contexts that stand behind the same text. */
  search(scope: ScopeId, context: Context): ContextMatch | undefined {
    return this.#indexes.get(scope)?.search(context)
  }

  /** The search path of a context that was sent, for the scheduler. */
  searchPath(request: RequestId, scope: ScopeId): number[] {
    return this.#indexes.get(scope)?.pathOf(request) ?? []
  }

  /** How many tokens of a prompt are believed to be cached. */
  predictCachedTokens(prompt: Pick<SentPrompt, 'prefixes' | 'ends'>): number {
    let cached = 0
    for (let i = 0; i < prompt.prefixes.length && this.#prefixHolders.has(prompt.prefixes[i]!); i++) {
      cached = prompt.ends[i]!
    }
    return Math.floor(cached * this.#tokensPerCharacter)
  }

  /** Whether a request id is mirrored: the engine must not be given it again. */
  has(request: RequestId): boolean {
    return this.#requests.has(request)
  }

  /** Figures for the control plane. */
  get statistics(): {
    requests: number
    cachedTokens: number
    nodes: number
    contexts: number
    unknownRequests: number
  } {
    let cached = 0
    for (const { cachedLength } of this.#requests.values()) cached += cachedLength
    let nodes = 0
    let contexts = 0
    for (const index of this.#indexes.values()) {
      nodes += index.nodes
      contexts += index.requests
    }
    return {
      requests: this.#requests.size,
      cachedTokens: Math.floor(cached * this.#tokensPerCharacter),
      nodes,
      contexts,
      unknownRequests: this.#unknownRequests,
    }
  }

  /** The one way in: every change of belief is an event. */
  apply(event: CacheEvent): void {
    switch (event.type) {
      case 'sent':
        this.#sent(event.request, event.prompt)
        break
      case 'failed':
        this.#forget(event.request)
        break
      case 'used':
        this.#used(event.request, event.promptTokens)
        break
      case 'stored':
      case 'evicted':
        this.#resize(event.request, event.cachedTokens)
        break
      case 'cleared':
        this.#requests.clear()
        this.#indexes.clear()
        this.#prefixHolders.clear()
    }
  }

  /** Replaces everything by what the engine says it holds; requests it does not name are forgotten. */
  applySnapshot(cachedTokens: ReadonlyMap<RequestId, number>): void {
    for (const request of [...this.#requests.keys()]) if (!cachedTokens.has(request)) this.#forget(request)
    for (const [request, tokens] of cachedTokens) this.#resize(request, tokens)
  }

  #sent(request: RequestId, prompt: SentPrompt): void {
    this.#forget(request)
    this.#requests.set(request, { prompt, promptTokens: undefined, cachedLength: prompt.length })
    for (const { scope, blocks } of prompt.contexts) this.#indexOf(scope).insert(blocks, request)
    for (const prefix of prompt.prefixes) this.#prefixHolders.set(prefix, (this.#prefixHolders.get(prefix) ?? 0) + 1)
    if (this.#requests.size > this.#maxRequests) {
      const [oldest] = this.#requests.keys()
      this.#forget(oldest!)
    }
  }

  #used(request: RequestId, promptTokens: number): void {
    const mirrored = this.#requests.get(request)
    if (!mirrored || promptTokens <= 0 || mirrored.prompt.length === 0) return
    mirrored.promptTokens = promptTokens
    this.#tokensPerCharacter += (promptTokens / mirrored.prompt.length - this.#tokensPerCharacter) / 8
  }

  /** Cuts (or grows again) what is believed of a request to its longest prefix that is still cached. */
  #resize(request: RequestId, cachedTokens: number): void {
    const mirrored = this.#requests.get(request)
    if (!mirrored) {
      this.#unknownRequests += 1
      return
    }
    if (cachedTokens <= 0) {
      this.#forget(request)
      return
    }
    const { prompt, promptTokens, cachedLength: before } = mirrored
    const tokensPerCharacter = promptTokens ? promptTokens / prompt.length : this.#tokensPerCharacter
    const after = Math.min(prompt.length, Math.floor(cachedTokens / tokensPerCharacter))
    mirrored.cachedLength = after
    for (const context of prompt.contexts) {
      const kept = countUpTo(context.ends, after)
      if (kept !== countUpTo(context.ends, before))
        this.#reinsert(request, context.scope, context.blocks.slice(0, kept))
    }
    this.#hold(prompt, countUpTo(prompt.ends, before), countUpTo(prompt.ends, after))
  }

  #reinsert(request: RequestId, scope: ScopeId, blocks: Context): void {
    if (blocks.length > 0) this.#indexOf(scope).insert(blocks, request)
    else this.#removeContext(request, scope)
  }

  #forget(request: RequestId): void {
    const mirrored = this.#requests.get(request)
    if (!mirrored) return
    this.#requests.delete(request)
    const { prompt, cachedLength } = mirrored
    for (const { scope } of prompt.contexts) this.#removeContext(request, scope)
    this.#hold(prompt, countUpTo(prompt.ends, cachedLength), 0)
  }

  #removeContext(request: RequestId, scope: ScopeId): void {
    const index = this.#indexes.get(scope)
    index?.remove(request)
    if (index?.requests === 0) this.#indexes.delete(scope)
  }

  /** A request that held its first `before` prefixes holds its first `after` from now on. */
  #hold(prompt: SentPrompt, before: number, after: number): void {
    for (let i = after; i < before; i++) {
      const prefix = prompt.prefixes[i]!
      const holders = this.#prefixHolders.get(prefix)! - 1
      if (holders === 0) this.#prefixHolders.delete(prefix)
      else this.#prefixHolders.set(prefix, holders)
    }
    for (let i = before; i < after; i++) {
      const prefix = prompt.prefixes[i]!
      this.#prefixHolders.set(prefix, (this.#prefixHolders.get(prefix) ?? 0) + 1)
    }
  }

  #indexOf(scope: ScopeId): ContextIndex {
    let index = this.#indexes.get(scope)
    if (!index) {
      index = new ContextIndex()
      this.#indexes.set(scope, index)
    }
    return index
  }
}

/** How many of the ascending `ends` are at most `limit`. */
function countUpTo(ends: readonly number[], limit: number): number {
  let low = 0
  let high = ends.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (ends[middle]! <= limit) low = middle + 1
    else high = middle
  }
  return low
}
