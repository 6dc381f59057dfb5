import { AverageDensity } from '../average-density.ts'
import type { CacheEvent, SentPrompt } from '../cache-event.ts'
import type { SharedBlocks } from '../columns/block-table.ts'
import type { Context, RequestId, ScopeId } from '../context-block.ts'
import type { HistoryWindow } from '../ordering/demand-history.ts'
import type { Ordering } from '../ordering/ordering-index.ts'
import { PrefixOrdering } from '../ordering/prefix-ordering.ts'
import type { HeldContexts } from './held-contexts.ts'
import { HeldRequests, type MirrorOptions } from './held-requests.ts'
import type { BelievedRequest, MirroredBelief, MirrorListener } from './mirror-listener.ts'
import { type MirroredPrompts, toMirroredPrompt } from './mirrored-prompts.ts'
import type { MirroredRequest, MirroredRequests } from './mirrored-requests.ts'

/** More than what a count of tokens is off by after it was converted to characters and back. */
const roundingTokens = 1e-6

/**
 * What one replica is believed to have cached: indexes of the contexts it holds, one for each text before a context,
 * and the prefixes of the prompts it was sent. The numbers of requests and of their blocks are bounded; the oldest
 * requests are dropped first. Beliefs about the cache change only through `apply` and `applySnapshot`.
 */
export class CacheMirror {
  readonly #held: HeldRequests
  readonly #requests: MirroredRequests
  readonly #contexts: HeldContexts
  readonly #prompts: MirroredPrompts
  readonly #history: HistoryWindow | undefined
  readonly #average: AverageDensity
  #unknownRequests = 0
  #listener: MirrorListener | undefined

  constructor({ history, average = new AverageDensity(), ...bounds }: MirrorOptions) {
    this.#held = new HeldRequests(
      bounds,
      (blocks) => this.createIndex(blocks),
      (request) => this.#listener?.forgotten(request),
    )
    this.#requests = this.#held.requests
    this.#contexts = this.#held.contexts
    this.#prompts = this.#held.prompts
    this.#history = history
    this.#average = average
  }

  /** Orders a context by those held after the same text. Returns undefined if there is no index for that text. */
  order(scope: ScopeId, context: Context, sizes: readonly number[]): Ordering | undefined {
    return this.#contexts.at(scope)?.order(context, sizes)
  }

  /** Returns how many of the latest requests had all of the first 1, 2, … blocks of a context after the same text. */
  demandOf(scope: ScopeId, context: Context): number[] {
    return this.#contexts.at(scope)?.demandOf(context) ?? context.map(() => 0)
  }

  /** Creates an empty index that orders like this mirror; without `blocks`, it has its own block table. */
  createIndex(blocks?: SharedBlocks): PrefixOrdering<MirroredRequest> {
    return new PrefixOrdering({ history: this.#history, blocks })
  }

  /** Returns the search path of a sent context, for the scheduler; empty if it is not held. */
  searchPath(request: RequestId, scope: ScopeId): number[] {
    const number = this.#requests.find(request)
    return number === undefined ? [] : (this.#contexts.at(scope)?.pathOf(number) ?? [])
  }

  /** Estimates how many tokens a prompt of this many characters has. */
  estimateTokens(characters: number): number {
    return Math.ceil(characters * this.#average.tokensPerCharacter)
  }

  /** Predicts how many tokens of a prompt are cached, using the token density of a request that holds them. */
  predictCachedTokens(prompt: Pick<SentPrompt, 'prefixes' | 'ends'>): number {
    const { tokens, isPart } = this.#findHeld(prompt)
    // the inverse of `#resize`, which rounds down
    return isPart ? Math.ceil(tokens - 2 * roundingTokens) : Math.floor(tokens + roundingTokens)
  }

  /** Predicts how many characters of a prompt are cached. */
  predictCachedLength(prompt: Pick<SentPrompt, 'prefixes' | 'ends'>): number {
    return this.#findHeld(prompt).length
  }

  /** Estimates how many tokens a prompt has; never fewer than are predicted to be cached. */
  estimatePromptTokens(prompt: Pick<SentPrompt, 'prefixes' | 'ends' | 'length'>): number {
    const held = this.#findHeld(prompt)
    return Math.ceil(held.tokens + (prompt.length - held.length) * this.#average.tokensPerCharacter)
  }

  /** Returns whether a request id is mirrored. If it is, the id must not be sent to the engine again. */
  has(request: RequestId): boolean {
    return this.#requests.find(request) !== undefined
  }

  /** Sets the listener for changes of this mirror. */
  listen(listener: MirrorListener): void {
    this.#listener = listener
  }

  /** Returns what is believed about a request; undefined if it is not mirrored. */
  recall(request: RequestId): MirroredBelief | undefined {
    const number = this.#requests.find(request)
    if (number === undefined) return undefined
    return {
      prompt: this.#held.promptOf(number),
      tokensPerCharacter: this.#held.densityOf(number),
      heldLength: this.#requests.heldLengths.at(number),
    }
  }

  /** Yields every mirrored request, oldest first, including those sent during the iteration. */
  *requestIds(): Generator<RequestId> {
    for (const [request] of this.#requests.entries()) yield request
  }

  /** Total tokens held. Shared prefixes count once; parts of blocks and what ends a prompt count for each request. */
  get heldTokens(): number {
    return Math.floor(this.#held.heldLength * this.#average.tokensPerCharacter)
  }

  /** Returns what is held of a request; undefined if nothing is. */
  heldOf(request: RequestId): BelievedRequest | undefined {
    const number = this.#requests.find(request)
    const cachedLength = number === undefined ? 0 : this.#requests.heldLengths.at(number)
    if (number === undefined || cachedLength === 0) return undefined
    const tokensPerCharacter = this.#held.densityOf(number) ?? this.#average.tokensPerCharacter
    return { request, cachedLength, tokensPerCharacter }
  }

  /**
   * Returns the requests sent before `until` whose prompts begin with the first `count` prefixes of a prompt and that
   * hold more than `length` characters, oldest first; none if `until` is not mirrored.
   */
  holdersOf(prefixes: readonly ScopeId[], count: number, length: number, until: RequestId): RequestId[] {
    const node = this.#prompts.nodeOf(prefixes, count)
    if (node === undefined || this.#requests.find(until) === undefined) return []
    const { ends: endNodes, heldLengths } = this.#requests
    const holders: RequestId[] = []
    for (const [request, number] of this.#requests.entries()) {
      if (request === until) break
      if (heldLengths.at(number) <= length) continue
      if (this.#prompts.leadsThrough(endNodes.at(number), node)) holders.push(request)
    }
    return holders
  }

  /** Returns how many of a request's held characters other requests hold too. */
  sharedLengthOf({ request, cachedLength }: BelievedRequest): number {
    const number = this.#requests.find(request)
    return number === undefined ? 0 : this.#prompts.sharedLength(this.#requests.ends.at(number), cachedLength)
  }

  /** Returns the tokens per character of a request; undefined until the engine has counted them. */
  densityOf(request: RequestId): number | undefined {
    const number = this.#requests.find(request)
    return number === undefined ? undefined : this.#held.densityOf(number)
  }

  /** Statistics for the control plane. `requests` counts those with something cached; `bytes` is an estimate. */
  get statistics(): HeldContexts['statistics'] & { requests: number; cachedTokens: number; unknownRequests: number } {
    const { bytes, ...counts } = this.#contexts.statistics
    return {
      requests: this.#held.holding,
      cachedTokens: Math.round(this.#prompts.heldLength * this.#average.tokensPerCharacter),
      ...counts,
      bytes: bytes + this.#held.bytes,
      unknownRequests: this.#unknownRequests,
    }
  }

  /** Length of the longest search path of any held context, in nodes. O(requests · height). */
  get height(): number {
    let height = 0
    for (const [, number] of this.#requests.entries()) {
      for (const { scope } of this.#held.promptOf(number).contexts) {
        height = Math.max(height, this.#contexts.at(scope)?.pathOf(number)?.length ?? 0)
      }
    }
    return height
  }

  /** Applies an event to the mirror. */
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
        this.#resize(event.request, event.cachedTokens, event.pageTokens)
        break
      case 'cleared':
        this.#held.clear()
        if (event.forgetsDemand) this.#contexts.forget()
        this.#listener?.reset('cleared')
    }
  }

  /** Tells the listener that a full report of the engine's cache follows. What it omits is no longer cached. */
  beginSnapshot(): void {
    this.#listener?.reset('replaced')
  }

  /**
   * Replaces all beliefs with the engine's report of its cache. A request missing from it counts as not cached but
   * stays mirrored, because a request sent while the snapshot was taken will still be reported.
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
    this.#held.add(request, toMirroredPrompt(prompt), prompt.length)
    this.#listener?.changed(request, 'sent')
    this.#held.trim()
  }

  #share(event: CacheEvent & { type: 'shared' }): void {
    const { request, prompt, heldLength, tokensPerCharacter } = event
    let number = this.#requests.find(request)
    if (number === undefined && !prompt) return
    // set the density first, so that it applies to what the request holds from now on
    if (number !== undefined && tokensPerCharacter !== undefined) this.#held.count(number, tokensPerCharacter)
    if (number === undefined) {
      const length = Math.min(heldLength ?? prompt!.length, prompt!.length)
      number = this.#held.add(request, prompt!, length, tokensPerCharacter)
    } else if (heldLength !== undefined) {
      this.#held.hold(number, Math.min(heldLength, this.#requests.lengths.at(number)))
    }
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

  /** Shrinks or extends the belief about a request to its longest prefix that is still cached. */
  #resize(request: RequestId, cachedTokens: number, pageTokens = 0): void {
    const number = this.#requests.find(request)
    if (number === undefined) {
      this.#unknownRequests += 1
      this.#listener?.unknown(request, cachedTokens)
      return
    }
    const tokensPerCharacter = this.#held.densityOf(number) ?? this.#average.tokensPerCharacter
    const whole = this.#requests.lengths.at(number)
    const length = Math.floor((cachedTokens + roundingTokens) / tokensPerCharacter)
    if (cachedTokens <= 0) this.#held.fall(number)
    // the end of a prompt fills no page; without it, a text that ends there would count as lost
    else this.#held.hold(number, (whole - length) * tokensPerCharacter < pageTokens ? whole : length)
    this.#listener?.changed(request, 'held')
  }

  /** Returns the longest held prefix of a prompt, in characters and in tokens. */
  #findHeld(prompt: Pick<SentPrompt, 'prefixes' | 'ends'>): { length: number; tokens: number; isPart: boolean } {
    const { length, tokensPerCharacter, isPart } = this.#prompts.find(prompt)
    return { length, tokens: length * (tokensPerCharacter ?? this.#average.tokensPerCharacter), isPart }
  }
}
