import type { RequestId, ScopeId } from '../context-block.ts'
import { type Checkpoint, lastOf } from './checkpoints.ts'
import { type HeldPlace, TokenTree } from './token-tree.ts'
import { UnknownRequests } from './unknown-requests.ts'

/** The tokens of a prompt and its cache scope. Only prompts of equal scope share cached tokens. */
export interface PromptTokens {
  readonly tokens: Uint32Array
  readonly scope: string
}

interface TokenRequest {
  /** position in the order of sending */
  readonly order: number
  /** identities of its prompt's prefixes, cut by characters */
  readonly prefixes: readonly ScopeId[]
  isRunning: boolean
  /** tokens that the engine last reported as held; undefined if it has not */
  reported: number | undefined
  /** lengths at which the engine last reported checkpoints of it; undefined if it has not */
  checkpoints?: readonly Checkpoint[] | undefined
  /** undefined until the tokens are known */
  held: { place: HeldPlace; readonly scope: string; readonly promptTokens: number } | undefined
}

/** Notified when a request's tokens become known and when they are forgotten. */
interface TokenListener {
  learned(request: RequestId): void
  forgotten(request: RequestId): void
}

/** The beliefs from before an engine was cleared. */
interface ClearedTokens {
  readonly tree: TokenTree
  readonly requests: Map<RequestId, TokenRequest>
}

/**
 * What one replica is believed to have cached, in its own tokens: all of a running request, and what the engine reports
 * of an ended one. The number of tokens is bounded; the oldest requests are dropped first.
 */
export class TokenMirror {
  readonly #maxTokens: number
  readonly #isOurs: (request: RequestId) => boolean
  readonly #requests = new Map<RequestId, TokenRequest>()
  #tree = new TokenTree(1)
  /** our requests that the engine holds in part but whose tokens are unknown */
  readonly #unknown = new UnknownRequests()
  /** kept until the engine has reported its cache again, because a sender that fell behind clears first */
  #cleared: ClearedTokens | undefined
  #listener: TokenListener | undefined
  #order = 0
  /** layers with windows or states are found only where a checkpoint is kept */
  keepsCheckpoints = false
  /** whether the last continued conversation was found cached to the end of its last answer */
  #findsAnswers = true

  /** `isOurs`: returns whether we sent a request, so that it counts as held even if its tokens are unknown. */
  constructor(maxTokens: number, isOurs: (request: RequestId) => boolean) {
    this.#maxTokens = maxTokens
    this.#isOurs = isOurs
  }

  /** Sets the listener for requests whose tokens become known or are forgotten. */
  listen(listener: TokenListener): void {
    this.#listener = listener
  }

  /** Number of stored tokens. */
  get size(): number {
    return this.#tree.size
  }

  /** Returns how many of a prompt's prefixes our requests with unknown tokens may hold. O(the prompt's prefixes). */
  countUnknown(prefixes: readonly ScopeId[]): number {
    return this.#unknown.countShared(prefixes)
  }

  /** Yields our requests that the engine holds in part but whose tokens are unknown. */
  unknown(): IterableIterator<RequestId> {
    return this.#unknown.keys()
  }

  /** Yields all requests whose tokens are known. */
  *known(): Generator<RequestId> {
    for (const [request, { held }] of this.#requests) if (held) yield request
  }

  /** Returns the held tokens of a request, in whole pages; undefined if they are unknown. */
  recall(request: RequestId): PromptTokens | undefined {
    const held = this.#requests.get(request)?.held
    return held && { tokens: this.#tree.tokensOf(held.place), scope: held.scope }
  }

  /** Returns how many tokens of a request the engine last reported as held; undefined if there is no report. */
  reportedOf(request: RequestId): number | undefined {
    const known = this.#requests.get(request)
    return known ? known.reported : this.#unknown.reportedOf(request)
  }

  /** Adds a request that another proxy, or this one before a restart, has sent and the engine holds in part. */
  inherit(request: RequestId): void {
    if (!this.#requests.has(request)) this.#unknown.inherit(request)
  }

  /** Sets the tokens of an unknown request. `cachedTokens`: how many count as held if the engine has not reported. */
  restore(request: RequestId, { tokens, scope }: PromptTokens, cachedTokens: number, pageTokens: number): void {
    if (!this.#unknown.has(request)) return
    const prefixes = this.#unknown.prefixesOf(request) ?? []
    const reported = this.#unknown.reportedOf(request) ?? cachedTokens
    this.#unknown.delete(request)
    if (pageTokens !== this.#tree.pageTokens) this.#restart(pageTokens)
    const place = this.#tree.hold(scope, tokens, 0)
    this.#readmit(request, { prefixes, reported, held: { place, scope, promptTokens: tokens.length } })
  }

  /** Records that a request is sent, after all earlier ones. `prefixes`: its prompt's prefixes, cut by characters. */
  send(request: RequestId, prefixes: readonly ScopeId[] = []): void {
    this.forget(request)
    this.#order += 1
    this.#requests.set(request, {
      order: this.#order,
      prefixes,
      isRunning: true,
      reported: undefined,
      held: undefined,
    })
  }

  /** Sets a request's tokens; undefined if they are unavailable. The engine caches only whole pages of `pageTokens`. */
  learn(request: RequestId, prompt: PromptTokens | undefined, pageTokens = 1): void {
    const known = this.#requests.get(request)
    if (!known || known.held) return
    if (!prompt) {
      this.#requests.delete(request)
      if (known.isRunning || known.reported !== 0) this.#unknown.add(request, known.prefixes, known.reported)
      return
    }
    if (pageTokens !== this.#tree.pageTokens) this.#restart(pageTokens)
    const { tokens, scope } = prompt
    known.held = { place: this.#tree.hold(scope, tokens, known.order), scope, promptTokens: tokens.length }
    this.#listener?.learned(request)
    this.#settle(request, known)
    this.#keep(known)
    this.#trim(request)
  }

  /**
   * Predicts how many leading tokens of a running request were cached when it was sent, in whole pages. It is never the
   * whole prompt, because an engine always computes the last token. Returns undefined if that is unknown.
   */
  predict(request: RequestId): number | undefined {
    const found = this.#find(request)
    return this.#findsAnswers ? found?.continued : found?.tokens
  }

  /** Records how many tokens of a running request the engine found cached. */
  used(request: RequestId, cachedTokens: number): void {
    const { tokens, continued } = this.#find(request) ?? { tokens: 0, continued: 0 }
    if (continued === tokens) return
    // chat templates that omit a part of an answer, such as its reasoning, change its tokens
    if (cachedTokens >= continued) this.#findsAnswers = true
    else if (cachedTokens <= tokens) this.#findsAnswers = false
  }

  /**
   * Records the engine's report of how many leading tokens of a request it holds, and at which lengths it keeps
   * checkpoints. What it says of a prefix holds for all that share it. `checkpoints` undefined: as before.
   */
  report(request: RequestId, cachedTokens: number, checkpoints?: readonly Checkpoint[]): void {
    const known = this.#requests.get(request)
    if (known) {
      // an ended request leaves nothing more: a new checkpoint within its prompt is another request's
      const since = known.isRunning || lastOf(checkpoints) > lastOf(known.checkpoints) ? known.order : this.#order
      Object.assign(known, { reported: cachedTokens, checkpoints: checkpoints ?? known.checkpoints })
      if (checkpoints) this.#keep(known, since)
      this.#settle(request, known)
    } else if (cachedTokens === 0) this.#unknown.delete(request)
    else if (!this.#recover(request, cachedTokens, checkpoints)) {
      if (this.#unknown.has(request) || this.#isOurs(request)) this.#unknown.report(request, cachedTokens)
    }
  }

  /** Records that the engine has finished a request. */
  end(request: RequestId): void {
    const known = this.#requests.get(request)
    if (!known) return
    known.isRunning = false
    this.#settle(request, known)
  }

  /** Drops all beliefs about a request. */
  forget(request: RequestId): void {
    const held = this.#requests.get(request)?.held
    this.#requests.delete(request)
    this.#unknown.delete(request)
    if (!held) return
    this.#tree.release(held.place)
    this.#listener?.forgotten(request)
  }

  /** Drops all beliefs except those about running requests. */
  clear(): void {
    this.#unknown.clear()
    this.#cleared = { tree: this.#tree, requests: new Map() }
    for (const [request, known] of this.#requests) {
      if (known.isRunning) continue
      known.reported = 0
      if (!known.held) continue
      this.#cleared.requests.set(request, known)
      this.#requests.delete(request)
      this.#listener?.forgotten(request)
    }
    this.#restart(this.#tree.pageTokens)
  }

  /** Yields all requests of which something is believed. */
  *requestIds(): Generator<RequestId> {
    yield* this.#unknown.keys()
    yield* this.#requests.keys()
  }

  /** A full report of the engine's cache does not name a request: nothing of it is held, unless it is running. */
  omitted(request: RequestId): void {
    if (!this.#requests.get(request)?.isRunning) this.report(request, 0)
  }

  /** All requests of a full report were reported, and all others omitted. */
  endSnapshot(): void {
    this.#cleared = undefined
  }

  /** Restores the tokens of a request that was held before a clear and is reported again. Returns false if unknown. */
  #recover(request: RequestId, reported: number, checkpoints: readonly Checkpoint[] | undefined): boolean {
    const cleared = this.#cleared?.requests.get(request)
    if (!cleared?.held) return false
    const { place, scope, promptTokens } = cleared.held
    const again = this.#tree.hold(scope, this.#cleared!.tree.tokensOf(place), 0)
    this.#cleared!.requests.delete(request)
    const held = { place: again, scope, promptTokens }
    this.#readmit(request, { prefixes: cleared.prefixes, reported, checkpoints, held })
    this.#listener?.learned(request)
    return true
  }

  /** Adds an ended request again, before everything sent from now on. */
  #readmit(request: RequestId, known: Pick<TokenRequest, 'prefixes' | 'reported' | 'checkpoints' | 'held'>): void {
    const readmitted = { order: 0, isRunning: false, ...known }
    this.#requests.set(request, readmitted)
    this.#settle(request, readmitted)
    this.#keep(readmitted)
    this.#trim(request)
  }

  #find(request: RequestId): { readonly tokens: number; readonly continued: number } | undefined {
    const known = this.#requests.get(request)
    if (!known?.held) return undefined
    const { place, promptTokens } = known.held
    const { tokens, continued } = this.#tree.findBefore(place, known.order)
    const most = promptTokens - 1
    const wholePages = most - (most % this.#tree.pageTokens)
    if (this.keepsCheckpoints) {
      const checkpoint = this.#tree.findCheckpoint(place, Math.min(tokens, wholePages), known.order)
      return { tokens: checkpoint, continued: checkpoint }
    }
    return { tokens: Math.min(tokens, wholePages), continued: Math.min(continued, wholePages) }
  }

  /** Adjusts an ended request to what the engine reported. A running request stays held as a whole. */
  #settle(request: RequestId, known: TokenRequest): void {
    const { isRunning, reported, held } = known
    if (isRunning || reported === undefined || !held) return
    if (reported < held.place.end) held.place = this.#tree.cut(held.place, reported, this.#order)
    else this.#tree.continue(held.place, reported)
    if (reported === 0) this.forget(request)
  }

  #keep({ held, checkpoints, order }: TokenRequest, since = order): void {
    if (held && checkpoints) this.#tree.keepCheckpoints(held.place, checkpoints, since)
  }

  /** Rebuilds the tree with this page size. */
  #restart(pageTokens: number): void {
    const before = this.#tree
    this.#tree = new TokenTree(pageTokens)
    for (const known of this.#requests.values()) {
      const { held, order } = known
      if (held) held.place = this.#tree.hold(held.scope, before.tokensOf(held.place), order)
      this.#keep(known)
    }
  }

  #trim(last: RequestId): void {
    for (const [oldest, { prefixes, reported }] of this.#requests) {
      if (this.size <= this.#maxTokens || oldest === last) return
      this.forget(oldest)
      this.#unknown.add(oldest, prefixes, reported)
    }
  }
}
