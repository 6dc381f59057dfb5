import { DocumentTable } from './document-table.ts'
import { PairOrders } from './pair-orders.ts'
import { type Likeness, RecentLists } from './recent-lists.ts'

/** What a template remembers of its documents and lists. */
const remembered = { documents: 256, lists: 96 } as const
/** Documents of a list that are looked at, the first ones. */
export const mostListed = 24

/** Pairs met are halved when there are so many, so that what came long ago weighs less. */
const mostPairs = 4_096
/** What was seen often enough is no longer counted. */
const enough = 64
/** Lists like an earlier one are halved when there are so many. */
const mostNear = 128

/** What the orders of a template's lists have shown. All counts are plain numbers, so that they can be kept. */
export interface OrderCounts {
  /** Lists learned from. */
  lists: number
  /** Sightings of a list that was there before: no evidence. */
  again: number
  /** Questions that came again with other documents, or the same in another order. */
  askedAgain: number
  /** Pairs met again, in the same and in the opposite order. */
  equal: number
  flips: number
  /** Lists with flips, pairs flipped and documents that overtook another, 64 at most. */
  flippingLists: number
  flippedPairs: number
  movers: number
  /** Lists much like an earlier one, of which a few documents had moved, and those in another order. */
  nearMoved: number
  nearMixed: number
  /** Documents seen again, and those of them that were absent from the list before. */
  seenAgain: number
  returned: number
  /** Documents seen twice or more, and those that always had the same one behind them. */
  followed: number
  stuck: number
}

export const noCounts: OrderCounts = {
  ...{ lists: 0, again: 0, askedAgain: 0, equal: 0, flips: 0, flippingLists: 0, flippedPairs: 0, movers: 0 },
  ...{ nearMoved: 0, nearMixed: 0, seenAgain: 0, returned: 0, followed: 0, stuck: 0 },
}

/** Learns from the orders in which the documents of a template come. */
export class OrderEvidence {
  readonly documents: DocumentTable = new DocumentTable(remembered.documents)
  readonly pairs: PairOrders = new PairOrders(remembered.documents)
  readonly recent: RecentLists = new RecentLists(remembered.lists, mostListed)
  readonly counts: OrderCounts = { ...noCounts }
  /** Slots of pairs that flipped, and of documents that overtook another, until there are enough. */
  readonly #flipped = new Set<number>()
  readonly #movers = new Set<number>()

  /**
   * Learns a list of three documents or more, none twice. Returns for each whether it is new; undefined if the list is no
   * evidence.
   */
  learn(keys: readonly number[], question: number): boolean[] | undefined {
    const { counts, documents } = this
    const likeness = this.recent.recognise(keys, question)
    if (likeness.kind === 'again') counts.again++
    else if (likeness.kind === 'asked-again') counts.askedAgain++
    if (likeness.kind === 'again' || likeness.kind === 'asked-again') return undefined
    this.recent.note(keys, question)
    counts.lists++
    const isNew = keys.map((key) => !documents.has(key))
    const slots = keys.map((key) => documents.take(key, (slot) => this.pairs.forget(slot, remembered.documents)))
    this.#learnPairs(slots, likeness)
    this.#learnFollowers(slots)
    return isNew
  }

  /** Share of the pairs met again that stood in the opposite order. */
  get shareOfFlips(): number {
    return this.counts.flips / Math.max(1, this.counts.flips + this.counts.equal)
  }

  #learnPairs(slots: readonly number[], { common, kind }: Likeness): void {
    const { counts } = this
    const flipped: (readonly [number, number])[] = []
    slots.forEach((first, i) => {
      for (const second of slots.slice(i + 1)) {
        const before = this.pairs.meet(first, second)
        if (before === 'equal') counts.equal++
        else if (before === 'flipped') flipped.push([first, second])
      }
    })
    if (common >= Math.max(5, slots.length / 2)) this.#learnLikeness(kind)
    // a change of state explains these
    if (kind === 'moved' || flipped.length === 0) return
    counts.flips += flipped.length
    counts.flippingLists = Math.min(enough, counts.flippingLists + 1)
    for (const [first, second] of flipped) {
      const pair = Math.min(first, second) * remembered.documents + Math.max(first, second)
      counts.flippedPairs += countNew(this.#flipped, pair)
      counts.movers += countNew(this.#movers, first)
    }
    if (counts.flips + counts.equal <= mostPairs) return
    counts.flips >>= 1
    counts.equal >>= 1
  }

  #learnLikeness(kind: Likeness['kind']): void {
    const { counts } = this
    if (kind === 'moved') counts.nearMoved++
    else if (kind === 'mixed') counts.nearMixed++
    if (counts.nearMoved + counts.nearMixed <= mostNear) return
    counts.nearMoved >>= 1
    counts.nearMixed >>= 1
  }

  #learnFollowers(slots: readonly number[]): void {
    const { counts, documents } = this
    slots.forEach((slot, place) => {
      const next = slots[place + 1]
      const follower = next === undefined ? 0 : documents.keys[next]!
      if (documents.seen[slot]! > 0) {
        counts.seenAgain++
        if (documents.last[slot]! < counts.lists - 1) counts.returned++
        this.#learnFollower(slot, follower)
      }
      documents.place(slot, counts.lists, follower)
    })
  }

  #learnFollower(slot: number, follower: number): void {
    const { counts, documents } = this
    const isOther = follower === 0 || documents.followers[slot] !== follower
    if (documents.seen[slot] === 1) {
      counts.followed++
      if (!isOther) counts.stuck++
    } else if (isOther && documents.parted[slot] === 0) counts.stuck--
    if (isOther) documents.parted[slot] = 1
  }
}

/** Returns 1 if the set grew. */
function countNew(set: Set<number>, value: number): 0 | 1 {
  if (set.size >= enough || set.has(value)) return 0
  set.add(value)
  return 1
}
