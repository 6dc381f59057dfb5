import type { SimilarRequest } from './demand-history.ts'
import type { Placement } from './placement.ts'

/** What is known of a block that nobody asked for: as if this many requests that share one average block had. */
const priorSpeakers = 3
/** A past request without a block that has been placed speaks for this share of what it did before. */
const shareWithout = 0.4
/** Founding ends here: nobody has yet shared so many blocks by plan, and the ranking is worth more. */
const mostFounded = 64
/** Ends the growth of weights, relative to each other, before numbers overflow. */
const mostWeight = 1e60

/** The different blocks of a context; a block is spoken of by its place in these lists. */
export interface FoundingQuery {
  readonly blocks: readonly number[]
  /** where each stands first in the context */
  readonly ranks: readonly number[]
  readonly sizes: readonly number[]
  /** by block: the past requests that hold it, weighed for this context */
  readonly speakers: readonly (readonly SimilarRequest[])[]
  /** by rank: its block's place in these lists */
  readonly indexOfRank: readonly number[]
  /** by block number: 1 + its place in these lists, or 0 */
  readonly indexOfBlock: readonly number[]
}

/**
 * Places blocks behind the prefix that is placed, in an order that later requests will share: one after the other the
 * block with the most to save, the demand for it × its size. Demand is what alike requests of the past say, and those
 * most that hold all that stands in front already: a later request can share this block only together with that.
 * Places nothing where the past says nothing of what is not placed yet: the ranking stays then. O(64 · (n + 16 · k)) for n blocks and past
 * requests of k.
 */
export function foundPrefix(query: FoundingQuery, placement: Placement): void {
  const { blocks, ranks, sizes, speakers, indexOfRank } = query
  // behind the prefix nothing is known: its blocks keep their ranks, there is no order that others could share
  const isPlaced = new Set(placement.order.map((rank) => indexOfRank[rank]!))
  if (speakers.every(({ length }, at) => length === 0 || isPlaced.has(at))) return
  for (const rank of placement.order) speakers[indexOfRank[rank]!]!.forEach(speakUp)
  const demand = speakers.map((requests) => requests.reduce((sum, { weight }) => sum + weight, 0))
  const prior = priorSpeakers / blocks.length ** 2
  for (let founded = 0; founded < mostFounded; founded++) {
    let best = -1
    let most = -1
    for (let at = 0; at < blocks.length; at++) {
      const saving = (demand[at]! + prior) * sizes[at]!
      if (saving <= most || !placement.allows(ranks[at]!)) continue
      best = at
      most = saving
    }
    // all are placed, or a repeated block is due
    if (best < 0) return
    placement.place(ranks[best]!)
    raiseDemand(query, best, demand)
  }
}

/** A block is placed: those who hold it speak the louder, relative to those who do not. */
function speakUp(request: SimilarRequest): void {
  request.unplaced -= 1
  if (request.weight < mostWeight) request.weight /= shareWithout
}

/** The same, and the demand for all that they hold rises. */
function raiseDemand({ speakers, indexOfBlock }: FoundingQuery, at: number, demand: number[]): void {
  for (const request of speakers[at]!) {
    const before = request.weight
    speakUp(request)
    // most share one hot block with the context and have nothing more to say
    if (request.unplaced <= 0) continue
    for (const block of request.blocks) {
      const other = indexOfBlock[block]
      if (other) demand[other - 1]! += request.weight - before
    }
  }
}
