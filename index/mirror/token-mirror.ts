import type { RequestId, ScopeId } from '../context-block.ts'
import { type HeldPlace, TokenTree } from './token-tree.ts'
import { UnknownRequests } from './unknown-requests.ts'

/** The tokens of one prompt, and what its cache is kept apart by: only prompts of equal scope share. */
export interface PromptTokens {
  readonly tokens: Uint32Array
  readonly scope: string
}

interface TokenRequest {
  /** in which requests were sent */
  readonly order: number
  /** identities of its prompt's prefixes, by characters */
  readonly prefixes: readonly ScopeId[]
  isRunning: boolean
  /** tokens the engine last said it holds of it */
  reported: number | undefined
  /** undefined until its tokens are known */
  held: { place: HeldPlace; readonly scope: string; readonly promptTokens: number } | undefined
}

/** Hears of prompts whose tokens became known, and of those that are known no longer. */
export interface TokenListener {
  learned(request: RequestId): void
  forgotten(request: RequestId): void
}

/** What was believed before an engine was cleared. */
interface ClearedTokens {
  readonly tree: TokenTree
  readonly requests: Map<RequestId, TokenRequest>
}

/**
 * What one replica is believed to have cached, in its own tokens: all of a request that runs, and of one that has ended
 * what the engine reports. Bounded by tokens; the oldest go first.
 */
export class TokenMirror {
  readonly #maxTokens: number
  readonly #isOurs: (request: RequestId) => boolean
  readonly #requests = new Map<RequestId, TokenRequest>()
  #tree = new TokenTree(1)
  /** requests of ours of which the engine holds something, nobody knows which tokens */
  readonly #unknown = new UnknownRequests()
  /** until all that the engine holds has been told anew: a sender that fell behind has it cleared first */
  #cleared: ClearedTokens | undefined
  #listener: TokenListener | undefined
  #order = 0
  /** whether conversations were found cached up to the end of the last answer, the last time */
  #findsAnswers = true

  /** `isOurs`: the request was sent by us, so that something may be believed of it although its tokens are not known. */
  constructor(maxTokens: number, isOurs: (request: RequestId) => boolean) {
    this.#maxTokens = maxTokens
    this.#isOurs = isOurs
  }

  /** From now on tells which requests' tokens are known. */
  listen(listener: TokenListener): void {
    this.#listener = listener
  }

  /** Tokens that are kept. */
  get size(): number {
    return this.#tree.size
  }

  /** How many of a prompt's prefixes may be held by requests of ours whose tokens are not known. O(such requests). */
  countUnknown(prefixes: readonly ScopeId[]): number {
    return this.#unknown.countShared(prefixes)
  }

  /** Requests of ours of which the engine holds something, nobody knows which tokens. */
  unknown(): Generator<RequestId> {
    return this.#unknown.keys()
  }

  /** All requests whose tokens are known. */
  *known(): Generator<RequestId> {
    for (const [request, { held }] of this.#requests) if (held) yield request
  }

  /** The tokens of what is held of a request, in whole pages. */
  recall(request: RequestId): PromptTokens | undefined {
    const held = this.#requests.get(request)?.held
    return held && { tokens: this.#tree.tokensOf(held.place), scope: held.scope }
  }

  /** How many tokens the engine last said it holds of a request; undefined when it has not, or that is not known. */
  reportedOf(request: RequestId): number | undefined {
    const known = this.#requests.get(request)
    return known ? known.reported : this.#unknown.reportedOf(request)
  }

  /** Another proxy has sent a request, or this one in an earlier life, and the engine holds something of it. */
  inherit(request: RequestId): void {
    if (!this.#requests.has(request)) this.#unknown.inherit(request)
  }

  /** What the tokens of an unknown request are; `cachedTokens`: believed to be held, where the engine did not say. */
  restore(request: RequestId, { tokens, scope }: PromptTokens, cachedTokens: number, pageTokens: number): void {
    if (!this.#unknown.has(request)) return
    const prefixes = this.#unknown.prefixesOf(request) ?? []
    const reported = this.#unknown.reportedOf(request) ?? cachedTokens
    this.#unknown.delete(request)
    if (pageTokens !== this.#tree.pageTokens) this.#restart(pageTokens)
    const place = this.#tree.hold(scope, tokens, 0)
    this.#readmit(request, { prefixes, reported, held: { place, scope, promptTokens: tokens.length } })
  }

  /** A request goes to the engine: it finds what those before it left. `prefixes`: of its prompt, by characters. */
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

  /** What its tokens are; undefined: they cannot be had. `pageTokens`: only whole pages of so many are cached. */
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
    this.#trim(request)
  }

  /**
   * How many of the first tokens of a request that runs were cached when it was sent, in whole pages; never all: an
   * engine computes the last one itself. Undefined: not known.
   */
  predict(request: RequestId): number | undefined {
    const found = this.#find(request)
    return this.#findsAnswers ? found?.continued : found?.tokens
  }

  /** The engine tells how many tokens of a request that runs were cached. */
  used(request: RequestId, cachedTokens: number): void {
    const { tokens, continued } = this.#find(request) ?? { tokens: 0, continued: 0 }
    if (continued === tokens) return
    // templates that leave something of an answer out, such as its thoughts, make other tokens of it
    if (cachedTokens >= continued) this.#findsAnswers = true
    else if (cachedTokens <= tokens) this.#findsAnswers = false
  }

  /** The engine tells how many of a request's first tokens it holds. */
  report(request: RequestId, cachedTokens: number): void {
    const known = this.#requests.get(request)
    if (known) {
      known.reported = cachedTokens
      this.#settle(request, known)
    } else if (cachedTokens === 0) this.#unknown.delete(request)
    else if (!this.#recover(request, cachedTokens)) {
      if (this.#unknown.has(request) || this.#isOurs(request)) this.#unknown.report(request, cachedTokens)
    }
  }

  /** The engine has ended with a request. */
  end(request: RequestId): void {
    const known = this.#requests.get(request)
    if (!known) return
    known.isRunning = false
    this.#settle(request, known)
  }

  /** Nothing of a request is held, as far as is known. */
  forget(request: RequestId): void {
    const held = this.#requests.get(request)?.held
    this.#requests.delete(request)
    this.#unknown.delete(request)
    if (!held) return
    this.#tree.release(held.place)
    this.#listener?.forgotten(request)
  }

  /** The engine holds nothing but what runs, as far as is known. */
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

  /** The engine holds this, and what runs. */
  applySnapshot(cachedTokens: ReadonlyMap<RequestId, number>): void {
    for (const request of this.#unknown.keys()) if (!cachedTokens.has(request)) this.#unknown.delete(request)
    for (const [request, { isRunning }] of this.#requests) {
      if (!isRunning && !cachedTokens.has(request)) this.report(request, 0)
    }
    for (const [request, tokens] of cachedTokens) this.report(request, tokens)
    this.#cleared = undefined
  }

  /** Whether the tokens are known of a request that was held before the engine was cleared, and is again. */
  #recover(request: RequestId, reported: number): boolean {
    const cleared = this.#cleared?.requests.get(request)
    if (!cleared?.held) return false
    const { place, scope, promptTokens } = cleared.held
    const again = this.#tree.hold(scope, this.#cleared!.tree.tokensOf(place), 0)
    this.#cleared!.requests.delete(request)
    this.#readmit(request, { prefixes: cleared.prefixes, reported, held: { place: again, scope, promptTokens } })
    this.#listener?.learned(request)
    return true
  }

  /** A request that has ended is known again; whatever is sent comes after it. */
  #readmit(request: RequestId, known: Pick<TokenRequest, 'prefixes' | 'reported' | 'held'>): void {
    const readmitted = { order: 0, isRunning: false, ...known }
    this.#requests.set(request, readmitted)
    this.#settle(request, readmitted)
    this.#trim(request)
  }

  #find(request: RequestId): { readonly tokens: number; readonly continued: number } | undefined {
    const known = this.#requests.get(request)
    if (!known?.held) return undefined
    const { place, promptTokens } = known.held
    const { tokens, continued } = this.#tree.findBefore(place, known.order)
    const most = promptTokens - 1
    const wholePages = most - (most % this.#tree.pageTokens)
    return { tokens: Math.min(tokens, wholePages), continued: Math.min(continued, wholePages) }
  }

  /** What runs stays in the engine whole; of the rest there is what was reported. */
  #settle(request: RequestId, known: TokenRequest): void {
    const { isRunning, reported, held } = known
    if (isRunning || reported === undefined || !held) return
    if (reported < held.place.end) held.place = this.#tree.cut(held.place, reported, this.#order)
    else this.#tree.continue(held.place, reported)
    if (reported === 0) this.forget(request)
  }

  /** The engine's pages are not what they were taken for. */
  #restart(pageTokens: number): void {
    const before = this.#tree
    this.#tree = new TokenTree(pageTokens)
    for (const { held, order } of this.#requests.values()) {
      if (held) held.place = this.#tree.hold(held.scope, before.tokensOf(held.place), order)
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
