import { LRUCache } from 'lru-cache'

/** What is known about one request that its engine has counted, in prompt tokens. */
interface GainedRequest {
  readonly promptTokens: number
  /** as the engine reported them */
  readonly cachedTokens: number
  /** without our work and with it; one of the two is the reported value */
  readonly withoutTokens: number
  readonly withTokens: number
  /** sent before by its tenant, at any position */
  readonly possibleTokens: number
  /**
   * what the model of the engine's cache held of the prompt as sent: its distance from the report shows how good the
   * model is
   */
  readonly modelTokens: number
  /** counted in the engine's own tokens, not by characters */
  readonly isExact: boolean
}

/** The labels that sums are kept by. */
export interface GainLabels {
  readonly replica: string
  readonly route: string
  readonly tenant: string
  readonly shape: string
}

/** Sums over requests, as `GET /v1/gain` returns them. */
export interface GainSums {
  readonly requests: number
  readonly prompt_tokens: number
  readonly cached_tokens: number
  readonly without_tokens: number
  readonly with_tokens: number
  readonly possible_tokens: number
  /** over all requests: the signed error of the model, and how many were followed in the engine's tokens */
  readonly model_error_tokens: number
  readonly exact_requests: number
}

type Writable<T> = { -readonly [Key in keyof T]: T[Key] }

/** How many routes, tenants and shapes have separate sums; the least recently seen go first. */
const mostNames = 50

/**
 * Why a request is in no sum: the engine reported no cached tokens for it, or its prompt was too long to follow, or it
 * came with too many others.
 */
export type LeftOut = 'unreported' | 'too_long' | 'too_many'

/** The sums of all requests, and how many are not among them. */
export interface GainTotal extends GainSums {
  readonly uncounted_requests: number
  readonly uncounted_by_reason: Readonly<Record<LeftOut, number>>
}

/** Sums up what requests found cached, would have found, and could have found. Bounded. */
export class GainLedger {
  readonly #total = noSums()
  readonly #leftOut: Record<LeftOut, number> = { unreported: 0, too_long: 0, too_many: 0 }
  readonly #by = {
    replicas: new LRUCache<string, Writable<GainSums>>({ max: 1_000 }),
    routes: new LRUCache<string, Writable<GainSums>>({ max: mostNames }),
    tenants: new LRUCache<string, Writable<GainSums>>({ max: mostNames }),
    shapes: new LRUCache<string, Writable<GainSums>>({ max: mostNames }),
  }

  /** Adds a request. */
  note(labels: GainLabels, request: GainedRequest): void {
    add(this.#total, request)
    add(sumsOf(this.#by.replicas, labels.replica), request)
    add(sumsOf(this.#by.routes, labels.route), request)
    add(sumsOf(this.#by.tenants, labels.tenant), request)
    add(sumsOf(this.#by.shapes, labels.shape), request)
  }

  /** Notes that an engine ran a request without known figures. */
  leaveOut(reason: LeftOut): void {
    this.#leftOut[reason] += 1
  }

  get total(): GainTotal {
    const all = Object.values(this.#leftOut).reduce((sum, count) => sum + count, 0)
    return { ...this.#total, uncounted_requests: all, uncounted_by_reason: { ...this.#leftOut } }
  }

  /** Returns the sums by one kind of label, most recently seen first. */
  by(kind: 'replicas' | 'routes' | 'tenants' | 'shapes'): ({ readonly name: string } & GainSums)[] {
    return [...this.#by[kind].entries()].map(([name, sums]) => ({ name, ...sums }))
  }
}

function noSums(): Writable<GainSums> {
  return {
    requests: 0,
    prompt_tokens: 0,
    cached_tokens: 0,
    without_tokens: 0,
    with_tokens: 0,
    possible_tokens: 0,
    model_error_tokens: 0,
    exact_requests: 0,
  }
}

function sumsOf(kept: LRUCache<string, Writable<GainSums>>, name: string): Writable<GainSums> {
  const known = kept.get(name)
  if (known) return known
  const sums = noSums()
  kept.set(name, sums)
  return sums
}

function add(sums: Writable<GainSums>, request: GainedRequest): void {
  sums.requests += 1
  sums.prompt_tokens += request.promptTokens
  sums.cached_tokens += request.cachedTokens
  sums.without_tokens += request.withoutTokens
  sums.with_tokens += request.withTokens
  sums.possible_tokens += request.possibleTokens
  sums.model_error_tokens += request.modelTokens - request.cachedTokens
  sums.exact_requests += request.isExact ? 1 : 0
}
