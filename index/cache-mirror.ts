import { AverageDensity } from './average-density.ts'
import type { CacheEvent, SentPrompt } from './cache-event.ts'
import type { Context, RequestId, ScopeId } from './context-block.ts'
import { HeldPrefixes, type TokenDensity } from './held-prefixes.ts'
import type { Ordering, OrderingIndex } from './ordering-index.ts'

interface MirroredRequest {
  readonly prompt: SentPrompt
  readonly density: TokenDensity
  cachedLength: number
  at: number
}

/** What is believed of one request. */
export interface MirroredBelief {
  readonly prompt: SentPrompt
  /** how many tokens a character took; undefined until the engine has counted */
  readonly tokensPerCharacter: number | undefined
  /** so many characters of the prompt are held, from its start */
  readonly heldLength: number
}

/** Hears of what changes the mirror, if it is not a `shared` event: whoever shares it tells others. */
export interface MirrorListener {
  /** Something else is believed of a request: it was sent just now, its tokens were counted, more or less of it is held. */
  changed(request: RequestId, what: 'sent' | 'counted' | 'held'): void
  /** A request is mirrored no longer; `at` as it was noted. */
  forgotten(request: RequestId, at: number): void
  /** The engine has told of a request that is not mirrored. */
  unknown(request: RequestId, cachedTokens: number): void
  /** Nothing is held any more but what is told of next; `cleared`: requests are forgotten, too. */
  reset(type: 'replaced' | 'cleared'): void
}

/** So many scopes are remembered of which nothing is cached; small caches lose all of a scope again and again. */
const maxIdleScopes = 1_000

// measured on Node 20 with 5,000 to 50,000 requests of 5 to 30 blocks: within 30 % of the heap's growth
const bytesPerRequest = 350
const bytesPerBlock = 120
const bytesPerPrefix = 50
/** of an index that does not say what it takes */
const bytesPerNode = 2_000

/**
 * What one replica is believed to have cached: the index of the contexts it holds, by what stands in front of them,
 * and the prefixes of the prompts it was sent. Bounded by the number of requests and of their blocks;
 * the oldest go first.
 * `apply` is the only writer.
 */
export class CacheMirror {
  readonly #maxRequests: number
  readonly #maxBlocks: number
  readonly #requests = new Map<RequestId, MirroredRequest>()
  readonly #indexes = new Map<ScopeId, OrderingIndex>()
  /** scopes of which nothing is held any more: their indexes still know what is asked for behind them */
  readonly #idleScopes = new Set<ScopeId>()
  readonly #createIndex: () => OrderingIndex
  readonly #prefixes = new HeldPrefixes()
  /** characters of all prefixes that are held, each once */
  #heldLength = 0
  /** blocks of all requests, each as often as it was sent */
  #blocks = 0
  readonly #average: AverageDensity
  #unknownRequests = 0
  #listener: MirrorListener | undefined

  /** `average`: one for all replicas of a model, so that what they are predicted to do can be compared. */
  constructor(
    bounds: { readonly maxRequests: number; readonly maxBlocks: number },
    createIndex: () => OrderingIndex,
    average: AverageDensity = new AverageDensity(),
  ) {
    this.#maxRequests = bounds.maxRequests
    this.#maxBlocks = bounds.maxBlocks
    this.#createIndex = createIndex
    this.#average = average
  }

  /** Orders a context by those that stand behind the same text; undefined when there are none. */
  order(scope: ScopeId, context: Context, sizes: readonly number[]): Ordering | undefined {
    return this.#indexes.get(scope)?.order(context, sizes)
  }

  /** The search path of a context that was sent, for the scheduler. */
  searchPath(request: RequestId, scope: ScopeId): number[] {
    return this.#indexes.get(scope)?.pathOf(request) ?? []
  }

  /** How many tokens a prompt of so many characters is expected to have. */
  estimateTokens(characters: number): number {
    return Math.ceil(characters * this.#average.tokensPerCharacter)
  }

  /** How many tokens of a prompt are believed to be cached: as dense as they were for a request that holds them. */
  predictCachedTokens(prompt: Pick<SentPrompt, 'prefixes' | 'ends'>): number {
    return Math.floor(this.#findHeld(prompt).tokens)
  }

  /** How many tokens a prompt is expected to have: never fewer than are predicted to be cached. */
  estimatePromptTokens(prompt: Pick<SentPrompt, 'prefixes' | 'ends' | 'length'>): number {
    const held = this.#findHeld(prompt)
    return Math.ceil(held.tokens + (prompt.length - held.length) * this.#average.tokensPerCharacter)
  }

  /** Whether a request id is mirrored: the engine must not be given it again. */
  has(request: RequestId): boolean {
    return this.#requests.has(request)
  }

  /** From now on tells of its changes. */
  listen(listener: MirrorListener): void {
    this.#listener = listener
  }

  /** What is believed of a request. */
  recall(request: RequestId): MirroredBelief | undefined {
    const mirrored = this.#requests.get(request)
    if (!mirrored) return undefined
    const { prompt, density, cachedLength } = mirrored
    return { prompt, tokensPerCharacter: density.tokensPerCharacter, heldLength: cachedLength }
  }

  /** How many requests are mirrored, be anything of them cached or not. */
  get size(): number {
    return this.#requests.size
  }

  /** All requests that are mirrored, in the order they were sent. */
  requests(): IterableIterator<RequestId> {
    return this.#requests.keys()
  }

  /** Notes with a request when it was sent, in any unit. */
  noteTime(request: RequestId, at: number): void {
    const mirrored = this.#requests.get(request)
    if (mirrored) mirrored.at = at
  }

  /** What was noted with a request; 0 for nothing. */
  timeOf(request: RequestId): number {
    return this.#requests.get(request)?.at ?? 0
  }

  /** Figures for the control plane; requests are those that have something cached, bytes are estimated. */
  get statistics(): {
    requests: number
    cachedTokens: number
    nodes: number
    contexts: number
    bytes: number
    unknownRequests: number
  } {
    let requests = 0
    for (const { cachedLength } of this.#requests.values()) if (cachedLength > 0) requests += 1
    let nodes = 0
    let contexts = 0
    let bytes =
      this.#requests.size * bytesPerRequest + this.#blocks * bytesPerBlock + this.#prefixes.size * bytesPerPrefix
    for (const index of this.#indexes.values()) {
      nodes += index.nodes
      contexts += index.requests
      bytes += index.bytes ?? index.nodes * bytesPerNode
    }
    return {
      requests,
      cachedTokens: Math.floor(this.#heldLength * this.#average.tokensPerCharacter),
      nodes,
      contexts,
      bytes,
      unknownRequests: this.#unknownRequests,
    }
  }

  /** The longest search path of all that is held, in nodes. O(requests · height). */
  get height(): number {
    let height = 0
    for (const [request, { prompt }] of this.#requests) {
      for (const { scope } of prompt.contexts) {
        height = Math.max(height, this.#indexes.get(scope)?.pathOf(request)?.length ?? 0)
      }
    }
    return height
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
      case 'shared':
        this.#share(event)
        break
      case 'stored':
      case 'evicted':
        this.#resize(event.request, event.cachedTokens)
        break
      case 'cleared':
        this.#requests.clear()
        this.#blocks = 0
        this.#indexes.clear()
        this.#idleScopes.clear()
        this.#prefixes.clear()
        this.#heldLength = 0
        this.#listener?.reset('cleared')
    }
  }

  /**
   * Replaces everything by what the engine says it holds. Requests it does not name are taken to have nothing cached,
   * but not forgotten: one that was sent while the snapshot was taken is still to be reported.
   */
  applySnapshot(cachedTokens: ReadonlyMap<RequestId, number>): void {
    for (const [request, mirrored] of this.#requests) {
      if (!cachedTokens.has(request)) this.#hold(request, mirrored, 0)
    }
    this.#listener?.reset('replaced')
    for (const [request, tokens] of cachedTokens) this.#resize(request, tokens)
  }

  #sent(request: RequestId, prompt: SentPrompt): void {
    this.#forget(request)
    this.#add(request, prompt, prompt.length)
    this.#listener?.changed(request, 'sent')
    this.#bound()
  }

  #share({ request, prompt, heldLength, tokensPerCharacter, at }: CacheEvent & { type: 'shared' }): void {
    let mirrored = this.#requests.get(request)
    if (mirrored) this.#hold(request, mirrored, Math.min(heldLength, mirrored.prompt.length))
    else if (prompt) mirrored = this.#add(request, prompt, Math.min(heldLength, prompt.length))
    else return
    mirrored.at = at
    if (tokensPerCharacter !== undefined) mirrored.density.tokensPerCharacter = tokensPerCharacter
    this.#listener?.changed(request, 'held')
    this.#bound()
  }

  #add(request: RequestId, prompt: SentPrompt, length: number): MirroredRequest {
    const mirrored: MirroredRequest = { prompt, density: { tokensPerCharacter: undefined }, cachedLength: 0, at: 0 }
    this.#requests.set(request, mirrored)
    this.#hold(request, mirrored, length)
    this.#blocks += countBlocks(prompt)
    return mirrored
  }

  #bound(): void {
    while (this.#requests.size > this.#maxRequests || (this.#blocks > this.#maxBlocks && this.#requests.size > 1)) {
      const [oldest] = this.#requests.keys()
      this.#forget(oldest!)
    }
  }

  #used(request: RequestId, promptTokens: number): void {
    const mirrored = this.#requests.get(request)
    if (!mirrored || promptTokens <= 0 || mirrored.prompt.length === 0) return
    const density = promptTokens / mirrored.prompt.length
    mirrored.density.tokensPerCharacter = density
    this.#average.note(density)
    this.#listener?.changed(request, 'counted')
  }

  /** Cuts (or grows again) what is believed of a request to its longest prefix that is still cached. */
  #resize(request: RequestId, cachedTokens: number): void {
    const mirrored = this.#requests.get(request)
    if (!mirrored) {
      this.#unknownRequests += 1
      this.#listener?.unknown(request, cachedTokens)
      return
    }
    if (cachedTokens <= 0) {
      this.#forget(request)
      return
    }
    const { prompt, density } = mirrored
    const tokensPerCharacter = density.tokensPerCharacter ?? this.#average.tokensPerCharacter
    this.#hold(request, mirrored, Math.min(prompt.length, Math.floor(cachedTokens / tokensPerCharacter)))
    this.#listener?.changed(request, 'held')
  }

  /** From now on the request holds the first `length` characters of its prompt. */
  #hold(request: RequestId, mirrored: MirroredRequest, length: number): void {
    const { prompt, cachedLength: before } = mirrored
    mirrored.cachedLength = length
    for (const { scope, blocks, sizes, ends } of prompt.contexts) {
      const kept = countUpTo(ends, length)
      if (kept === countUpTo(ends, before)) continue
      if (kept > 0) this.#indexOf(scope).insert(blocks.slice(0, kept), sizes.slice(0, kept), request)
      else this.#removeContext(request, scope)
    }
    this.#countPrefixes(mirrored, countUpTo(prompt.ends, before), countUpTo(prompt.ends, length))
  }

  #forget(request: RequestId): void {
    const mirrored = this.#requests.get(request)
    if (!mirrored) return
    this.#requests.delete(request)
    this.#blocks -= countBlocks(mirrored.prompt)
    this.#hold(request, mirrored, 0)
    this.#listener?.forgotten(request, mirrored.at)
  }

  #removeContext(request: RequestId, scope: ScopeId): void {
    const index = this.#indexes.get(scope)
    index?.remove(request)
    if (index?.requests !== 0) return
    this.#idleScopes.add(scope)
    if (this.#idleScopes.size <= maxIdleScopes) return
    const [longest] = this.#idleScopes
    this.#idleScopes.delete(longest!)
    this.#indexes.delete(longest!)
  }

  /** A request that held its first `before` prefixes holds its first `after` from now on. */
  #countPrefixes({ prompt, density }: MirroredRequest, before: number, after: number): void {
    const { prefixes, ends } = prompt
    for (let i = after; i < before; i++) {
      if (this.#prefixes.remove(prefixes[i]!)) this.#heldLength -= ends[i]! - (ends[i - 1] ?? 0)
    }
    for (let i = before; i < after; i++) {
      if (this.#prefixes.add(prefixes[i]!, density)) this.#heldLength += ends[i]! - (ends[i - 1] ?? 0)
    }
  }

  /** The longest prefix of a prompt that is held, in characters and in tokens. */
  #findHeld({ prefixes, ends }: Pick<SentPrompt, 'prefixes' | 'ends'>): { length: number; tokens: number } {
    let length = 0
    let density: TokenDensity | undefined
    for (let i = 0; i < prefixes.length; i++) {
      const held = this.#prefixes.find(prefixes[i]!)
      if (!held) break
      length = ends[i]!
      density = held
    }
    return { length, tokens: length * (density?.tokensPerCharacter ?? this.#average.tokensPerCharacter) }
  }

  #indexOf(scope: ScopeId): OrderingIndex {
    this.#idleScopes.delete(scope)
    let index = this.#indexes.get(scope)
    if (!index) {
      index = this.#createIndex()
      this.#indexes.set(scope, index)
    }
    return index
  }
}

function countBlocks({ contexts }: SentPrompt): number {
  return contexts.reduce((sum, { blocks }) => sum + blocks.length, 0)
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
