import type { SimilarRequest } from './demand-history.ts'
import type { Placement } from './placement.ts'

/** Prior demand for each block: as if this many requests that share one average block had requested it. */
const priorSpeakers = 3
/** Each placed block that a past request lacks reduces that request's weight to this share, relative to the others. */
const shareWithout = 0.4
/** At most this many blocks are placed. No plan has yet shared so many, and the ranking is worth more. */
const mostSeeded = 64
/** Weights stop growing here, before they overflow. */
const mostWeight = 1e60

/** The distinct blocks of a context. A block is referred to by its index in these lists. */
interface SeedQuery {
  readonly blocks: readonly number[]
  /** first rank of each in the context */
  readonly ranks: readonly number[]
  readonly sizes: readonly number[]
  /** by block: the past requests with it, weighed for this context */
  readonly speakers: readonly (readonly SimilarRequest[])[]
  /** by rank: index of its block in these lists */
  readonly indexOfRank: readonly number[]
  /** by block number: 1 + index in these lists, or 0 */
  readonly indexOfBlock: readonly number[]
}

/**
 * Places blocks after the prefix already placed, in an order that later requests are likely to share. Each step places
 * the block with the highest expected saving: its demand × its size. Demand is the total weight of similar past
 * requests with the block. Requests that have all the blocks placed before it count most, because a later request can
 * share this block only together with those. Places nothing if no past request has a block that is not placed yet, or if
 * all of them have every such block; the ranking then stays. O(64 · (n + 16 · k)) for n blocks and past requests of k blocks.
 */
export function seedPrefix(query: SeedQuery, placement: Placement): void {
  const { blocks, ranks, sizes, speakers, indexOfRank } = query
  // nothing is known about the remaining blocks, or they were always asked for together: they keep their ranks, as no
  // order is likelier to be shared than the one received
  const isPlaced = new Set(placement.order.map((rank) => indexOfRank[rank]!))
  const open = speakers.filter((_, at) => !isPlaced.has(at))
  if (open.every(({ length }) => length === 0) || areSame(open)) return
  for (const rank of placement.order) speakers[indexOfRank[rank]!]!.forEach(speakUp)
  const demand = speakers.map((requests) => requests.reduce((sum, { weight }) => sum + weight, 0))
  const prior = priorSpeakers / blocks.length ** 2
  for (let seeded = 0; seeded < mostSeeded; seeded++) {
    let best = -1
    let most = -1
    for (let at = 0; at < blocks.length; at++) {
      const saving = (demand[at]! + prior) * sizes[at]!
      if (saving <= most || placement.isPlaced(ranks[at]!)) continue
      best = at
      most = saving
    }
    // all are placed
    if (best < 0) return
    placement.place(ranks[best]!)
    raiseDemand(query, best, demand)
  }
}

/** Whether the same past requests have each of these blocks. */
function areSame([first, ...others]: readonly (readonly SimilarRequest[])[]): boolean {
  return others.every((own) => own.length === first!.length && own.every((request, i) => request === first![i]))
}

/** Raises the weight of a request that has the block just placed, relative to those that do not. */
function speakUp(request: SimilarRequest): void {
  request.unplaced -= 1
  if (request.weight < mostWeight) request.weight /= shareWithout
}

/** Does the same for all speakers of a block and raises the demand for their other blocks. */
function raiseDemand({ speakers, indexOfBlock }: SeedQuery, at: number, demand: number[]): void {
  for (const request of speakers[at]!) {
    const before = request.weight
    speakUp(request)
    // most requests share only one hot block with the context and have no others left
    if (request.unplaced <= 0) continue
    for (const block of request.blocks) {
      const other = indexOfBlock[block]
      if (other) demand[other - 1]! += request.weight - before
    }
  }
}
