import { type ReplicaCandidate, selectReplica } from '#scheduler/select-replica.ts'
import type { Random } from '../streams/random.ts'

/*
 * A fleet of replicas that reuse documents at any position, with and without a store that all of them share. A replica
 * prefills one request at a time; its own tiers hold the documents that it used last; its link to the store carries one
 * document at a time. Requests arrive at random times.
 */

/** A document, as a request shows it. */
export interface ShownDocument {
  readonly id: string
  readonly tokens: number
}

/** A request: its documents, and the tokens that no other request has. */
export interface FleetRequest {
  readonly documents: readonly ShownDocument[]
  readonly ownTokens: number
}

/** How documents are shared: which replica a request goes to, and whether there is a store. */
export interface Sharing {
  /** in turn, or by what each replica holds and has to do (`selectReplica`) */
  readonly routing: 'in turn' | 'by content'
  /** false: each replica has its own tiers alone */
  readonly store: boolean
}

export interface FleetOptions extends Sharing {
  readonly replicas: number
  /** what a replica holds on its device and in host memory */
  readonly tokensHeld: number
  readonly prefillTokensPerSecond: number
  /** share of the reused tokens that is computed again */
  readonly ratio: number
  readonly bytesPerToken: number
  /** of a replica's link to the store */
  readonly bytesPerSecond: number
  /** requests per second to the whole fleet */
  readonly arrivals: number
  /** every replica is started again once, one after another, in this part of the requests; undefined: none is */
  readonly restarts?: readonly [from: number, to: number] | undefined
}

/** Sums over requests. */
export interface FleetFigures {
  readonly prompt: number
  /** tokens that no tier held, or that were not worth fetching */
  readonly cold: number
  /** tokens found in the replica's own tiers */
  readonly own: number
  readonly fetched: number
  /** tokens written to the store */
  readonly written: number
  /** seconds until the first token, by request */
  readonly seconds: readonly number[]
}

/** Documents of which the least recently used are dropped. */
class Tier {
  readonly #held = new Map<string, number>()
  readonly #capacity: number
  #tokens = 0

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  has(id: string): boolean {
    return this.#held.has(id)
  }

  /** Holds a document, as the one used last. Returns whether it was there. */
  use({ id, tokens }: ShownDocument): boolean {
    const wasHeld = this.#held.delete(id)
    this.#held.set(id, tokens)
    if (!wasHeld) this.#tokens += tokens
    for (const [oldest, size] of this.#held) {
      if (this.#tokens <= this.#capacity) break
      this.#held.delete(oldest)
      this.#tokens -= size
    }
    return wasHeld
  }

  clear(): void {
    this.#held.clear()
    this.#tokens = 0
  }
}

interface Replica {
  readonly name: string
  readonly tier: Tier
  freeAt: number
  linkFreeAt: number
}

/** Sends requests through a fleet. Returns the sums of those from number `from` on. */
export function simulateFleet(
  requests: readonly FleetRequest[],
  options: FleetOptions,
  random: Random,
  from = 0,
): FleetFigures {
  const { replicas: count, tokensHeld, restarts } = options
  const fleet: Replica[] = Array.from({ length: count }, (_, i) => ({
    name: `replica ${String(i).padStart(4, '0')}`,
    tier: new Tier(tokensHeld),
    freeAt: 0,
    linkFreeAt: 0,
  }))
  const stored = new Set<string>()
  const sums = { prompt: 0, cold: 0, own: 0, fetched: 0, written: 0, seconds: [] as number[] }
  let [now, restarted] = [0, 0]
  requests.forEach((request, i) => {
    now -= Math.log(1 - random.next()) / options.arrivals
    if (restarts) {
      const due = Math.min(count, Math.floor((count * (i - restarts[0])) / (restarts[1] - restarts[0])))
      while (restarted < due) fleet[restarted++]!.tier.clear()
    }
    const replica = fleet[choose(fleet, request, { ...options, stored, now, turn: i })]!
    const served = serve(replica, request, { ...options, stored, now })
    if (i < from) return
    for (const name of ['prompt', 'cold', 'own', 'fetched', 'written'] as const) sums[name] += served[name]
    sums.seconds.push(served.seconds)
  })
  return sums
}

interface Moment extends FleetOptions {
  readonly stored: Set<string>
  readonly now: number
}

/** What the proxy expects of a document: reused tokens count as far as nothing has to be computed for them. */
function choose(fleet: readonly Replica[], request: FleetRequest, at: Moment & { turn: number }): number {
  if (at.routing === 'in turn') return at.turn % fleet.length
  const fromStore = (1 - at.ratio) * Math.max(0, 1 - secondsToFetch(1, at) / secondsSaved(1, at))
  const promptTokens = lengthOf(request)
  const candidates = fleet.map(({ name, tier, freeAt }): ReplicaCandidate => {
    let reused = 0
    for (const { id, tokens } of request.documents) {
      if (tier.has(id)) reused += tokens * (1 - at.ratio)
      else if (at.store && at.stored.has(id)) reused += tokens * fromStore
    }
    const waiting = Math.max(0, freeAt - at.now)
    return {
      replica: name,
      promptTokens,
      predictedCachedTokens: 0,
      predictedReusedTokens: reused,
      inFlightTokens: waiting * at.prefillTokensPerSecond,
      inFlight: waiting > 0 ? 1 : 0,
      processedTokens: 0,
    }
  })
  return selectReplica(candidates, { turn: at.turn })
}

type Served = Omit<FleetFigures, 'seconds'> & { readonly seconds: number }

/** A document is fetched if that is faster than to compute it; it is written once a replica has used it a second time. */
function serve(replica: Replica, request: FleetRequest, at: Moment): Served {
  const { ratio, now, stored } = at
  const prompt = lengthOf(request)
  let [cold, own, fetched, written] = [request.ownTokens, 0, 0, 0]
  let linkFreeAt = Math.max(now, replica.linkFreeAt)
  for (const document of request.documents) {
    const { id, tokens } = document
    const isFetched = at.store && !replica.tier.has(id) && stored.has(id)
    const isWorthIt = isFetched && secondsToFetch(tokens, at) < secondsSaved(tokens, at)
    const wasHeld = replica.tier.use(document)
    if (wasHeld) own += tokens
    else if (isWorthIt) {
      fetched += tokens
      linkFreeAt += secondsToFetch(tokens, at)
    } else cold += tokens
    if (at.store && wasHeld && !stored.has(id)) {
      stored.add(id)
      written += tokens
    }
  }
  if (fetched > 0) replica.linkFreeAt = linkFreeAt
  const begin = Math.max(now, replica.freeAt, fetched > 0 ? linkFreeAt : 0)
  replica.freeAt = begin + (cold + ratio * (own + fetched)) / at.prefillTokensPerSecond
  return { prompt, cold, own, fetched, written, seconds: replica.freeAt - now }
}

function lengthOf({ documents, ownTokens }: FleetRequest): number {
  return documents.reduce((sum, { tokens }) => sum + tokens, ownTokens)
}

function secondsToFetch(tokens: number, { bytesPerToken, bytesPerSecond }: FleetOptions): number {
  return (tokens * bytesPerToken) / bytesPerSecond
}

function secondsSaved(tokens: number, { ratio, prefillTokensPerSecond }: FleetOptions): number {
  return ((1 - ratio) * tokens) / prefillTokensPerSecond
}
