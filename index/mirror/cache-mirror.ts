import { AverageDensity } from '../average-density.ts'
import type { CacheEvent, MirroredPrompt, SentPrompt } from '../cache-event.ts'
import { SharedBlocks } from '../columns/block-table.ts'
import type { Context, RequestId, ScopeId } from '../context-block.ts'
import type { Ordering, OrderingIndex } from '../ordering/ordering-index.ts'
import type { BelievedCache, BelievedRequest } from './believed-cache.ts'
import type { HeldContexts } from './held-contexts.ts'
import { HeldRequests, type MirrorBounds } from './held-requests.ts'
import type { MirroredBelief, MirrorListener } from './mirror-listener.ts'
import { toMirroredPrompt } from './mirrored-prompt.ts'
import type { MirroredPrompts } from './mirrored-prompts.ts'
import type { MirroredRequest, MirroredRequests } from './mirrored-requests.ts'

/**
 * What one replica is believed to have cached: the index of the contexts it holds, by what stands in front of them,
 * and the prefixes of the prompts it was sent. Bounded by the number of requests and of their blocks;
 * the oldest go first.
 * `apply` is the only writer.
 */
export class CacheMirror implements BelievedCache {
  readonly #held: HeldRequests
  readonly #requests: MirroredRequests
  readonly #contexts: HeldContexts
  readonly #prompts: MirroredPrompts
  readonly #createIndex: (blocks: SharedBlocks) => OrderingIndex<MirroredRequest>
  readonly #average: AverageDensity
  #unknownRequests = 0
  #listener: MirrorListener | undefined

  /**
   * `secret`: keeps what others may choose from lying in each other's way (block-table.ts); `average`: one for all replicas of
   * a model, so that what they are predicted to do can be compared.
   */
  constructor(
    bounds: MirrorBounds & { readonly secret?: number },
    createIndex: (blocks: SharedBlocks) => OrderingIndex<MirroredRequest>,
    average: AverageDensity = new AverageDensity(),
  ) {
    this.#held = new HeldRequests(bounds, createIndex, (request, time) => this.#listener?.forgotten(request, time))
    this.#requests = this.#held.requests
    this.#contexts = this.#held.contexts
    this.#prompts = this.#held.prompts
    this.#createIndex = createIndex
    this.#average = average
  }

  /** Orders a context by those that stand behind the same text; undefined when there are none. */
  order(scope: ScopeId, context: Context, sizes: readonly number[]): Ordering | undefined {
    return this.#contexts.at(scope)?.order(context, sizes)
  }

  /** An index that orders as this mirror does, with nothing in it and blocks of its own. */
  createIndex(): OrderingIndex<MirroredRequest> {
    return this.#createIndex(new SharedBlocks())
  }

  /** The search path of a context that was sent, for the scheduler. */
  searchPath(request: RequestId, scope: ScopeId): number[] {
    const number = this.#requests.find(request)
    return number === undefined ? [] : (this.#contexts.at(scope)?.pathOf(number) ?? [])
  }

  /** How many tokens a prompt of so many characters is expected to have. */
  estimateTokens(characters: number): number {
    return Math.ceil(characters * this.#average.tokensPerCharacter)
  }

  /** How many tokens of a prompt are believed to be cached: as dense as they were for a request that holds them. */
  predictCachedTokens(prompt: Pick<SentPrompt, 'prefixes' | 'ends'>): number {
    return Math.floor(this.#findHeld(prompt).tokens)
  }

  /** How many characters of a prompt are believed to be cached. */
  predictCachedLength(prompt: Pick<SentPrompt, 'prefixes' | 'ends'>): number {
    return this.#findHeld(prompt).length
  }

  /** How many tokens a prompt is expected to have: never fewer than are predicted to be cached. */
  estimatePromptTokens(prompt: Pick<SentPrompt, 'prefixes' | 'ends' | 'length'>): number {
    const held = this.#findHeld(prompt)
    return Math.ceil(held.tokens + (prompt.length - held.length) * this.#average.tokensPerCharacter)
  }

  /** Whether a request id is mirrored: the engine must not be given it again. */
  has(request: RequestId): boolean {
    return this.#requests.find(request) !== undefined
  }

  /** From now on tells of its changes. */
  listen(listener: MirrorListener): void {
    this.#listener = listener
  }

  /** What is believed of a request. */
  recall(request: RequestId): MirroredBelief | undefined {
    const number = this.#requests.find(request)
    if (number === undefined) return undefined
    const tokensPerCharacter = this.#held.densityOf(number)
    return {
      prompt: this.#held.promptOf(number),
      tokensPerCharacter,
      heldLength: this.#requests.heldLengths.at(number),
    }
  }

  promptOf(request: RequestId): MirroredPrompt | undefined {
    return this.recall(request)?.prompt
  }

  /** How many requests are mirrored, be anything of them cached or not. */
  get size(): number {
    return this.#requests.size
  }

  /** Every request that is remembered, those sent longest ago first; goes on through those sent meanwhile. */
  *requestIds(): Generator<RequestId> {
    for (const [request] of this.#requests.entries()) yield request
  }

  /** Tokens of all that is held: what several share is counted once, but for what stands behind a prompt's blocks. */
  get heldTokens(): number {
    return Math.floor(this.#held.heldLength * this.#average.tokensPerCharacter)
  }

  /** What is held of a request; undefined when that is nothing. */
  heldOf(request: RequestId): BelievedRequest | undefined {
    const number = this.#requests.find(request)
    const cachedLength = number === undefined ? 0 : this.#requests.heldLengths.at(number)
    if (number === undefined || cachedLength === 0) return undefined
    const tokensPerCharacter = this.#held.densityOf(number) ?? this.#average.tokensPerCharacter
    return { request, cachedLength, tokensPerCharacter }
  }

  /** The requests that hold the prefix of a prompt that ends at a place, those sent longest ago first. */
  holdersOf({ prefixes, ends }: Pick<SentPrompt, 'prefixes' | 'ends'>, place: number): RequestId[] {
    const node = this.#prompts.nodeOf(prefixes, place + 1)
    if (node === undefined) return []
    const { ends: endNodes, heldLengths } = this.#requests
    const holders: RequestId[] = []
    for (const [request, number] of this.#requests.entries()) {
      if (heldLengths.at(number) < ends[place]!) continue
      if (this.#prompts.leadsThrough(endNodes.at(number), node)) holders.push(request)
    }
    return holders
  }

  /** How many of the characters that a request holds others hold as well. */
  sharedLengthOf({ request, cachedLength }: BelievedRequest): number {
    const number = this.#requests.find(request)
    return number === undefined ? 0 : this.#prompts.sharedLength(this.#requests.ends.at(number), cachedLength)
  }

  /** Notes with a request when it was sent, in any unit. */
  noteTime(request: RequestId, at: number): void {
    const number = this.#requests.find(request)
    if (number !== undefined) this.#requests.times.set(number, at)
  }

  /** What was noted with a request; 0 for nothing. */
  timeOf(request: RequestId): number {
    const number = this.#requests.find(request)
    return number === undefined ? 0 : this.#requests.times.at(number)
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
    const { nodes, contexts, bytes } = this.#contexts.statistics
    return {
      requests: this.#held.holding,
      cachedTokens: Math.floor(this.#prompts.heldLength * this.#average.tokensPerCharacter),
      nodes,
      contexts,
      bytes: bytes + this.#held.bytes,
      unknownRequests: this.#unknownRequests,
    }
  }

  /** The longest search path of all that is held, in nodes. O(requests · height). */
  get height(): number {
    let height = 0
    for (const [, number] of this.#requests.entries()) {
      for (const { scope } of this.#held.promptOf(number).contexts) {
        height = Math.max(height, this.#contexts.at(scope)?.pathOf(number)?.length ?? 0)
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
        this.#held.forget(event.request)
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
        this.#held.clear()
        if (event.forgetsDemand) this.#contexts.forget()
        this.#listener?.reset('cleared')
    }
  }

  /** The engine is about to tell of all that it holds; what it does not tell of it holds no longer. */
  beginSnapshot(): void {
    this.#listener?.reset('replaced')
  }

  /**
   * Replaces everything by what the engine says it holds. Requests it does not name are taken to have nothing cached,
   * but not forgotten: one that was sent while the snapshot was taken is still to be reported.
   */
  applySnapshot(cachedTokens: ReadonlyMap<RequestId, number>): void {
    this.beginSnapshot()
    for (const [request, number] of this.#requests.entries()) {
      if (!cachedTokens.has(request)) this.#held.fall(number)
    }
    for (const [request, tokens] of cachedTokens) this.#resize(request, tokens)
  }

  #sent(request: RequestId, prompt: SentPrompt): void {
    this.#held.forget(request)
    const held = { length: prompt.length, tokensPerCharacter: undefined, isAsked: true }
    this.#held.add(request, toMirroredPrompt(prompt), held)
    this.#listener?.changed(request, 'sent')
    this.#held.trim()
  }

  #share(event: CacheEvent & { type: 'shared' }): void {
    const { request, prompt, heldLength, tokensPerCharacter, at, isLongPast = false } = event
    let number = this.#requests.find(request)
    if (number === undefined && !prompt) return
    // counted first: what it holds from now on is as dense
    if (number !== undefined && tokensPerCharacter !== undefined) this.#held.count(number, tokensPerCharacter)
    if (number !== undefined) {
      this.#held.hold(number, Math.min(heldLength, this.#requests.lengths.at(number)))
    } else {
      const length = Math.min(heldLength, prompt!.length)
      number = this.#held.add(request, prompt!, { length, tokensPerCharacter, isAsked: !isLongPast })
    }
    this.#requests.times.set(number, at)
    if (heldLength === 0) this.#held.fall(number)
    this.#listener?.changed(request, 'held')
    this.#held.trim()
  }

  #used(request: RequestId, promptTokens: number): void {
    const number = this.#requests.find(request)
    const length = number === undefined ? 0 : this.#requests.lengths.at(number)
    if (number === undefined || promptTokens <= 0 || length === 0) return
    const density = promptTokens / length
    this.#held.count(number, density)
    this.#average.note(density)
    this.#listener?.changed(request, 'counted')
  }

  /** Cuts (or grows again) what is believed of a request to its longest prefix that is still cached. */
  #resize(request: RequestId, cachedTokens: number): void {
    const number = this.#requests.find(request)
    if (number === undefined) {
      this.#unknownRequests += 1
      this.#listener?.unknown(request, cachedTokens)
      return
    }
    if (cachedTokens <= 0) {
      this.#held.fall(number)
      this.#listener?.changed(request, 'held')
      return
    }
    const tokensPerCharacter = this.#held.densityOf(number) ?? this.#average.tokensPerCharacter
    const length = Math.floor(cachedTokens / tokensPerCharacter)
    this.#held.hold(number, Math.min(this.#requests.lengths.at(number), length))
    this.#listener?.changed(request, 'held')
  }

  /** The longest prefix of a prompt that is held, in characters and in tokens. */
  #findHeld(prompt: Pick<SentPrompt, 'prefixes' | 'ends'>): { length: number; tokens: number } {
    const { length, tokensPerCharacter } = this.#prompts.find(prompt)
    return { length, tokens: length * (tokensPerCharacter ?? this.#average.tokensPerCharacter) }
  }
}
