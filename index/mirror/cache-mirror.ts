import { AverageDensity } from '../average-density.ts'
import type { CacheEvent, MirroredPrompt, SentPrompt, SharedPrompt } from '../cache-event.ts'
import { SharedBlocks } from '../columns/block-table.ts'
import { RequestTable } from '../columns/request-table.ts'
import type { Context, RequestId, ScopeId } from '../context-block.ts'
import type { Ordering, OrderingIndex } from '../ordering/ordering-index.ts'
import type { BelievedCache, BelievedRequest } from './believed-cache.ts'
import { HeldContexts } from './held-contexts.ts'
import type { MirroredBelief, MirrorListener } from './mirror-listener.ts'
import { toMirroredPrompt } from './mirrored-prompt.ts'
import { MirroredPrompts } from './mirrored-prompts.ts'
import { type MirroredRequest, MirroredRequests } from './mirrored-requests.ts'

/** So many requests are remembered of which nothing is held any more: an engine may store one anew that it had lost. */
const maxFallen = 5_000

/**
 * What one replica is believed to have cached: the index of the contexts it holds, by what stands in front of them,
 * and the prefixes of the prompts it was sent. Bounded by the number of requests and of their blocks;
 * the oldest go first.
 * `apply` is the only writer.
 */
export class CacheMirror implements BelievedCache {
  readonly #maxRequests: number
  readonly #maxBlocks: number
  readonly #requests = new MirroredRequests()
  readonly #table: SharedBlocks
  readonly #contexts: HeldContexts
  readonly #createIndex: (blocks: SharedBlocks) => OrderingIndex<MirroredRequest>
  readonly #prompts: MirroredPrompts
  /** requests of which something is held */
  #holding = 0
  /** characters that requests hold behind the last of their prefixes */
  #tailLength = 0
  /** those that lost everything, the longest ago first */
  readonly #fallen = new RequestTable<MirroredRequest>()
  /** blocks of all requests, each as often as it was sent */
  #blocks = 0
  readonly #average: AverageDensity
  #unknownRequests = 0
  #listener: MirrorListener | undefined

  /**
   * `secret`: keeps what others may choose from lying in each other's way (block-table.ts); `average`: one for all replicas of
   * a model, so that what they are predicted to do can be compared.
   */
  constructor(
    bounds: { readonly maxRequests: number; readonly maxBlocks: number; readonly secret?: number },
    createIndex: (blocks: SharedBlocks) => OrderingIndex<MirroredRequest>,
    average: AverageDensity = new AverageDensity(),
  ) {
    this.#maxRequests = bounds.maxRequests
    this.#maxBlocks = bounds.maxBlocks
    this.#table = new SharedBlocks(bounds.secret)
    this.#prompts = new MirroredPrompts(this.#table)
    this.#contexts = new HeldContexts(createIndex, this.#table)
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
    const tokensPerCharacter = this.#densityOf(number)
    return { prompt: this.#promptOf(number), tokensPerCharacter, heldLength: this.#requests.heldLengths.at(number) }
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
    return Math.floor((this.#prompts.heldLength + this.#tailLength) * this.#average.tokensPerCharacter)
  }

  /** What is held of a request; undefined when that is nothing. */
  heldOf(request: RequestId): BelievedRequest | undefined {
    const number = this.#requests.find(request)
    const cachedLength = number === undefined ? 0 : this.#requests.heldLengths.at(number)
    if (number === undefined || cachedLength === 0) return undefined
    const tokensPerCharacter = this.#densityOf(number) ?? this.#average.tokensPerCharacter
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
      requests: this.#holding,
      cachedTokens: Math.floor(this.#prompts.heldLength * this.#average.tokensPerCharacter),
      nodes,
      contexts,
      bytes: bytes + this.#requests.bytes + this.#prompts.bytes + this.#table.bytes,
      unknownRequests: this.#unknownRequests,
    }
  }

  /** The longest search path of all that is held, in nodes. O(requests · height). */
  get height(): number {
    let height = 0
    for (const [, number] of this.#requests.entries()) {
      for (const { scope } of this.#promptOf(number).contexts) {
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
        this.#clear()
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
      if (!cachedTokens.has(request)) this.#fall(number)
    }
    for (const [request, tokens] of cachedTokens) this.#resize(request, tokens)
  }

  #sent(request: RequestId, prompt: SentPrompt): void {
    this.#forget(request)
    const held = { length: prompt.length, tokensPerCharacter: undefined, isAsked: true }
    this.#add(request, toMirroredPrompt(prompt), held)
    this.#listener?.changed(request, 'sent')
    this.#bound()
  }

  #share(event: CacheEvent & { type: 'shared' }): void {
    const { request, prompt, heldLength, tokensPerCharacter, at, isLongPast = false } = event
    let number = this.#requests.find(request)
    if (number === undefined && !prompt) return
    // counted first: what it holds from now on is as dense
    if (number !== undefined && tokensPerCharacter !== undefined) this.#count(number, tokensPerCharacter)
    if (number !== undefined) {
      this.#hold(number, Math.min(heldLength, this.#requests.lengths.at(number)))
    } else {
      const length = Math.min(heldLength, prompt!.length)
      number = this.#add(request, prompt!, { length, tokensPerCharacter, isAsked: !isLongPast })
    }
    this.#requests.times.set(number, at)
    if (heldLength === 0) this.#fall(number)
    this.#listener?.changed(request, 'held')
    this.#bound()
  }

  #add(
    request: RequestId,
    prompt: SharedPrompt,
    held: { readonly length: number; readonly tokensPerCharacter: number | undefined; readonly isAsked: boolean },
  ): MirroredRequest {
    const { end, isTold } = this.#prompts.add(prompt)
    const blocks = countBlocks(prompt)
    const number = this.#requests.add(request, end, prompt.length, blocks)
    this.#requests.densities.set(number, held.tokensPerCharacter ?? 0)
    if (!isTold) this.#requests.keepPrompt(number, prompt)
    this.#blocks += blocks
    this.#hold(number, held.length, held.isAsked)
    return number
  }

  #bound(): void {
    while (this.#requests.size > this.#maxRequests || (this.#blocks > this.#maxBlocks && this.#requests.size > 1)) {
      this.#forget(this.#requests.oldest()!)
    }
  }

  #used(request: RequestId, promptTokens: number): void {
    const number = this.#requests.find(request)
    const length = number === undefined ? 0 : this.#requests.lengths.at(number)
    if (number === undefined || promptTokens <= 0 || length === 0) return
    const density = promptTokens / length
    this.#count(number, density)
    this.#average.note(density)
    this.#listener?.changed(request, 'counted')
  }

  #count(number: MirroredRequest, density: number): void {
    const { ends, densities, heldLengths } = this.#requests
    densities.set(number, density)
    this.#prompts.count(ends.at(number), heldLengths.at(number), density)
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
      this.#fall(number)
      this.#listener?.changed(request, 'held')
      return
    }
    const tokensPerCharacter = this.#densityOf(number) ?? this.#average.tokensPerCharacter
    const length = Math.floor(cachedTokens / tokensPerCharacter)
    this.#hold(number, Math.min(this.#requests.lengths.at(number), length))
    this.#listener?.changed(request, 'held')
  }

  /** All have lost everything. They stay known: a sender that fell behind says so before it tells all it holds anew. */
  #clear(): void {
    const { ends, heldLengths } = this.#requests
    for (const [, number] of this.#requests.entries()) {
      this.#prompts.hold(ends.at(number), heldLengths.at(number), 0, undefined)
      heldLengths.set(number, 0)
      if (this.#fallen.find(number) === undefined) this.#fallen.add(number)
    }
    this.#contexts.clear()
    this.#holding = 0
    this.#tailLength = 0
  }

  /** It holds nothing now; of too many such those that fell first are forgotten, by and by. */
  #fall(number: MirroredRequest): void {
    this.#hold(number, 0)
    this.#fallen.delete(number)
    this.#fallen.add(number)
    for (let i = 0; i < 2 && this.#fallen.size > maxFallen; i++) {
      this.#forget(this.#requests.idOf(this.#fallen.oldest()!))
    }
  }

  /** From now on the request holds the first `length` characters of its prompt; `isAsked`: it has been sent just now. */
  #hold(number: MirroredRequest, length: number, isAsked = false): void {
    const { heldLengths, ends } = this.#requests
    const before = heldLengths.at(number)
    if (before === length) return
    heldLengths.set(number, length)
    if (before === 0) this.#fallen.delete(number)
    this.#holding += Number(length > 0) - Number(before > 0)
    if (this.#requests.keptPrompt(number)) this.#holdKept(number, before, length, isAsked)
    else if (length < before) this.#cut(number, before, length)
    else this.#grow(number, before, length, isAsked)
    const known = this.#prompts.hold(ends.at(number), before, length, this.#densityOf(number))
    this.#tailLength += length - before - known
  }

  #holdKept(number: MirroredRequest, before: number, length: number, isAsked: boolean): void {
    for (const { scope, blocks, sizes, ends } of this.#requests.keptPrompt(number)!.contexts) {
      const count = countUpTo(ends, length)
      if (count === countUpTo(ends, before)) continue
      this.#contexts.hold(number, scope, blocks.slice(0, count), sizes.slice(0, count), isAsked)
    }
  }

  #cut(number: MirroredRequest, before: number, length: number): void {
    this.#prompts.eachCut(this.#requests.ends.at(number), before, length, (scope, count) =>
      this.#contexts.cut(number, scope, count),
    )
  }

  #grow(number: MirroredRequest, before: number, length: number, isAsked: boolean): void {
    this.#prompts.eachGrown(this.#requests.ends.at(number), before, length, (scope, blocks) =>
      this.#contexts.holdNumbers(number, scope, blocks, isAsked),
    )
  }

  #forget(request: RequestId): void {
    const number = this.#requests.find(request)
    if (number === undefined) return
    const { blocks, times, ends } = this.#requests
    this.#fallen.delete(number)
    this.#hold(number, 0)
    this.#blocks -= blocks.at(number)
    this.#prompts.remove(ends.at(number))
    this.#requests.delete(request)
    this.#listener?.forgotten(request, times.at(number))
  }

  #densityOf(number: MirroredRequest): number | undefined {
    return this.#requests.densities.at(number) || undefined
  }

  #promptOf(number: MirroredRequest): MirroredPrompt {
    const { ends, lengths } = this.#requests
    return this.#requests.keptPrompt(number) ?? this.#prompts.promptAt(ends.at(number), lengths.at(number))
  }

  /** The longest prefix of a prompt that is held, in characters and in tokens. */
  #findHeld(prompt: Pick<SentPrompt, 'prefixes' | 'ends'>): { length: number; tokens: number } {
    const { length, tokensPerCharacter } = this.#prompts.find(prompt)
    return { length, tokens: length * (tokensPerCharacter ?? this.#average.tokensPerCharacter) }
  }
}

function countBlocks({ contexts }: SharedPrompt): number {
  return contexts.reduce((sum, { blocks }) => sum + blocks.length, 0)
}

/** How many of the ascending `ends` are at most `limit`. */
function countUpTo(ends: readonly number[], limit: number): number {
  let low = 0
  // of nothing nothing is held, not even what ends where all begins
  let high = limit > 0 ? ends.length : 0
  while (low < high) {
    const middle = (low + high) >> 1
    if (ends[middle]! <= limit) low = middle + 1
    else high = middle
  }
  return low
}
