import { type Likeness, likenessOf } from './likeness.ts'

/** Lists that a template remembers. */
const remembered = 96
/** Documents of a list that are looked at, the first ones. */
export const mostListed = 24
const width = mostListed + 2

/** Lists with fewer documents in common are not compared. */
const fewestCommon = 4
/** Pairs met are halved when there are so many, so that what came long ago weighs less. */
const mostPairs = 4_096
/** What was seen often enough is no longer counted. */
const enough = 64
/** So many documents of a list tell whether it stands like an earlier one; lists that do are counted up to so many. */
const [fewestAlike, mostAlike] = [3, 24]
/** Lists like an earlier one are halved when there are so many. */
const mostNear = 128

/** What is known of a document's followers where it stands in a list: seen once; always the same one; different ones. */
const [once, stuck, parted] = [1, 2, 3]

/** What the orders of a template's lists have shown. All counts are plain numbers, so that they can be kept. */
export type OrderCounts = typeof noCounts

export const noCounts = {
  /** Lists learned from. */
  lists: 0,
  /** Lists that were there before, in a retry or in a history, or nearly so for the same question: no evidence. */
  again: 0,
  /**
   * Questions that came again with some of the documents in another order, as where a model ranks them in turns: the
   * question does not determine the order.
   */
  askedAgain: 0,
  /** Pairs met again, in the same and in the opposite order. */
  equal: 0,
  flips: 0,
  /** Lists with flips, pairs flipped and documents that overtook another, 64 at most. */
  flippingLists: 0,
  flippedPairs: 0,
  movers: 0,
  /** Lists much like an earlier one, of which a few documents had moved, and those in another order. */
  nearMoved: 0,
  nearMixed: 0,
  /** Lists in a row that stand like the last one with three of their documents; halved by one that does not. */
  alike: 0,
  /** Documents seen again, and those of them that were absent from the list before. */
  seenAgain: 0,
  returned: 0,
  /** Documents seen twice or more, and those that always had the same one behind them. */
  followed: 0,
  stuck: 0,
}

/** An earlier list that has documents of a new one. */
interface EarlierList {
  /** 1: it is the list directly before */
  readonly back: number
  /** where its row begins */
  readonly row: number
  /** of the documents in both, in the earlier order: their cells, and their places in the new list */
  readonly cells: readonly number[]
  readonly places: readonly number[]
}

/** Learns from the orders in which the documents of a template come, by its last lists. */
export class OrderEvidence {
  readonly counts: OrderCounts = { ...noCounts }
  /** Rows of a ring: question, number of documents, documents. */
  readonly rows: Int32Array = new Int32Array(remembered * width)
  /** By cell of these rows: what was known of the document's followers then. */
  readonly states: Uint8Array = new Uint8Array(remembered * width)
  /** Pairs that flipped, and documents that overtook another, until there are enough. */
  readonly #flipped = new Set<string>()
  readonly #movers = new Set<number>()

  /**
   * Learns a list of three documents or more, none twice, by 32-bit keys. Returns for each whether it is new; undefined
   * if the list is no evidence.
   */
  learn(keys: readonly number[], question: number): boolean[] | undefined {
    const { counts, rows } = this
    const earlier = this.#findEarlier(keys)
    const likeness = this.#recognise(keys, question, earlier)
    if (likeness === 'again' || likeness === 'asked-again') {
      counts[likeness === 'again' ? 'again' : 'askedAgain']++
      return undefined
    }
    this.#learnPairs(keys, likeness, earlier)
    const states = this.#learnFollowers(keys, earlier)
    const row = (counts.lists++ % remembered) * width
    rows[row] = question
    rows[row + 1] = keys.length
    rows.set(keys, row + 2)
    this.states.set(
      states.map(({ state }) => state),
      row + 2,
    )
    return states.map(({ isNew }) => isNew)
  }

  /** Share of the pairs met again that stood in the opposite order. */
  get shareOfFlips(): number {
    return this.counts.flips / Math.max(1, this.counts.flips + this.counts.equal)
  }

  /** Returns the lists with documents of a new one, the latest first. */
  #findEarlier(keys: readonly number[]): EarlierList[] {
    const { rows, counts } = this
    const placeOf = new Map(keys.map((key, place) => [key, place]))
    // by the last bits of a key: asking the map for each document of each list would take most of the time
    const mayBe = new Uint8Array(256)
    for (const key of keys) mayBe[key & 255] = 1
    const earlier: EarlierList[] = []
    for (let back = 1; back <= Math.min(counts.lists, remembered); back++) {
      const row = ((counts.lists - back) % remembered) * width
      const [cells, places]: [number[], number[]] = [[], []]
      const end = this.#endOf(row)
      for (let cell = row + 2; cell < end; cell++) {
        const place = mayBe[rows[cell]! & 255] === 1 ? placeOf.get(rows[cell]!) : undefined
        if (place === undefined) continue
        cells.push(cell)
        places.push(place)
      }
      if (cells.length > 0) earlier.push({ back, row, cells, places })
    }
    return earlier
  }

  /** How a list stands to those before it, above all to the one it has most in common with; undefined: too little is. */
  #recognise(
    keys: readonly number[],
    question: number,
    earlier: readonly EarlierList[],
  ): 'again' | 'asked-again' | { readonly common: number; readonly kind: Likeness } | undefined {
    const isSame = ({ row, places }: EarlierList): boolean =>
      places.length === keys.length && this.rows[row + 1] === keys.length && places.every((place, i) => place === i)
    if (earlier.some(isSame)) return 'again'
    const asked = earlier.find(({ row, cells }) => cells.length >= 2 && this.rows[row] === question)
    if (asked) return likenessTo(asked) === 'same' ? 'again' : 'asked-again'
    const common = Math.max(...earlier.map(({ cells }) => cells.length))
    if (common < fewestCommon) return undefined
    return { common, kind: likenessTo(earlier.find(({ cells }) => cells.length === common)!) }
  }

  /** Compares each pair with how it stood last. */
  #learnPairs(
    keys: readonly number[],
    likeness: { readonly common: number; readonly kind: Likeness } | undefined,
    earlier: readonly EarlierList[],
  ): void {
    const { counts } = this
    const { equal, flipped } = meetPairs(keys.length, earlier)
    counts.equal += equal
    const last = earlier.find(({ cells }) => cells.length >= fewestAlike)
    const isAlike = last?.places.every((place, i, { [i - 1]: before = -1 }) => place > before)
    if (isAlike !== undefined) counts.alike = isAlike ? Math.min(mostAlike, counts.alike + 1) : counts.alike >> 1
    if (likeness && likeness.common >= Math.max(5, keys.length / 2)) this.#learnLikeness(likeness.kind)
    // a change of state explains these
    if (likeness?.kind === 'moved' || flipped.length === 0) return
    counts.flips += flipped.length
    counts.flippingLists = Math.min(enough, counts.flippingLists + 1)
    const areEnough = this.#flipped.size >= enough && this.#movers.size >= enough
    for (const [first, second] of areEnough ? [] : flipped) {
      const [one, other] = [keys[first]!, keys[second]!]
      counts.flippedPairs += countNew(this.#flipped, [one, other].sort().join())
      counts.movers += countNew(this.#movers, one)
    }
    if (counts.flips + counts.equal <= mostPairs) return
    counts.flips >>= 1
    counts.equal >>= 1
  }

  #learnLikeness(kind: Likeness): void {
    const { counts } = this
    if (kind === 'moved') counts.nearMoved++
    else if (kind === 'mixed') counts.nearMixed++
    if (counts.nearMoved + counts.nearMixed <= mostNear) return
    counts.nearMoved >>= 1
    counts.nearMixed >>= 1
  }

  /** Returns for each document whether it is new, and what is known of its followers now. */
  #learnFollowers(keys: readonly number[], earlier: readonly EarlierList[]): { isNew: boolean; state: number }[] {
    const last: { readonly list: EarlierList; readonly cell: number }[] = []
    for (const list of earlier)
      for (const [i, place] of list.places.entries()) last[place] ??= { list, cell: list.cells[i]! }
    return keys.map((_, place) => {
      const own = last[place]
      if (own === undefined) return { isNew: true, state: once }
      this.counts.seenAgain++
      if (own.list.back > 1) this.counts.returned++
      const hasFollower = own.cell + 1 < this.#endOf(own.list.row)
      const isSame = hasFollower && this.rows[own.cell + 1] === keys[place + 1]
      return { isNew: false, state: this.#learnFollower(this.states[own.cell]!, isSame) }
    })
  }

  #learnFollower(before: number, isSame: boolean): number {
    const { counts } = this
    if (before === once) {
      counts.followed++
      if (isSame) counts.stuck++
    } else if (before === stuck && !isSame) counts.stuck--
    return isSame && before !== parted ? stuck : parted
  }

  /** Where a row ends; what was restored may be anything. */
  #endOf(row: number): number {
    return row + 2 + Math.min(this.rows[row + 1]!, mostListed)
  }
}

/** Returns how often two documents stand as they did last, and the pairs of places that stand the other way round. */
function meetPairs(
  length: number,
  earlier: readonly EarlierList[],
): { equal: number; flipped: (readonly [number, number])[] } {
  const flipped: (readonly [number, number])[] = []
  /** by the first place of a pair: a bit for each second one it was met with */
  const met = new Uint32Array(length)
  let equal = 0
  const meet = (before: number, behind: number): void => {
    const [first, second] = before < behind ? [before, behind] : [behind, before]
    if ((met[first]! & (1 << second)) !== 0) return
    met[first]! |= 1 << second
    if (before < behind) equal++
    else flipped.push([first, second])
  }
  for (const { places } of earlier)
    for (let i = 0; i < places.length; i++) for (let j = i + 1; j < places.length; j++) meet(places[i]!, places[j]!)
  return { equal, flipped }
}

/** How a new list stands to an earlier one. */
function likenessTo({ cells, places }: EarlierList): Likeness {
  const byPlace = [...cells.keys()].sort((a, b) => places[a]! - places[b]!)
  return likenessOf(byPlace.map((i) => cells[i]!))
}

/** Returns 1 if the set grew. */
function countNew<Value>(set: Set<Value>, value: Value): 0 | 1 {
  if (set.size >= enough || set.has(value)) return 0
  set.add(value)
  return 1
}
