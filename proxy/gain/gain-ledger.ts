import { LRUCache } from 'lru-cache'
import { getOrMake } from '#index/get-or-make.ts'

/** By what sums are kept apart, and for how many each; the least recently seen go first. */
const mostNames = { replicas: 1_000, routes: 50, tenants: 50, shapes: 50 }

/** A request's name of each kind. */
export type GainLabels = Readonly<Record<keyof typeof mostNames, string>>

/** Sums before any request. */
export const noSums = {
  requests: 0,
  prompt_tokens: 0,
  /** as the engine reported them */
  cached_tokens: 0,
  /** without our work and with it; one of the two is the reported value */
  without_tokens: 0,
  with_tokens: 0,
  /** sent before by its tenant, at any position */
  possible_tokens: 0,
  /** over all requests: what the model of the engine's cache held of them as sent, less what was reported */
  model_error_tokens: 0,
  /** the same without signs, which cancel out in a sum */
  model_off_tokens: 0,
  /** counted in the engine's own tokens, not by characters */
  exact_requests: 0,
}
const names = Object.keys(noSums) as (keyof GainSums)[]

/** Sums over requests, as `GET /v1/gain` returns them. */
export type GainSums = Readonly<typeof noSums>

export type NamedSums = { readonly name: string } & GainSums

type Writable<T> = { -readonly [Key in keyof T]: T[Key] }

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
  readonly #total = { ...noSums }
  readonly #leftOut: Record<LeftOut, number> = { unreported: 0, too_long: 0, too_many: 0 }
  readonly #by = Object.fromEntries(
    Object.entries(mostNames).map(([kind, max]) => [kind, new LRUCache<string, Writable<GainSums>>({ max })]),
  ) as Record<keyof GainLabels, LRUCache<string, Writable<GainSums>>>

  /** Adds a request that its engine has counted, as sums over itself alone. */
  note(labels: GainLabels, counted: Omit<GainSums, 'model_off_tokens'>): void {
    const request = { ...counted, model_off_tokens: Math.abs(counted.model_error_tokens) }
    add(this.#total, request)
    for (const kind of Object.keys(mostNames) as (keyof GainLabels)[])
      add(
        getOrMake(this.#by[kind], labels[kind], () => ({ ...noSums })),
        request,
      )
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
  by(kind: keyof GainLabels): NamedSums[] {
    return [...this.#by[kind].entries()].map(([name, sums]) => ({ name, ...sums }))
  }
}

function add(sums: Writable<GainSums>, request: GainSums): void {
  for (const name of names) sums[name] += request[name]
}
