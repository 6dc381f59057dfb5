import type { BlockId } from '#index/context-block.ts'
import { packRecord, unpackRecord } from './evidence-record.ts'
import { mostListed, OrderEvidence } from './order-evidence.ts'
import { Relevance } from './relevance.ts'

/** What one request shows of a list. */
export interface Sighting {
  /** Identities of the blocks' contents, in the order received. */
  readonly contents: readonly BlockId[]
  /** The text of the block in a place; read only when needed. */
  readonly text: (place: number) => string
  /** The words of the request outside its lists: the question, mostly. */
  readonly question: string
}

/**
 * `set`: their order is that of relevance to the question. `sequence`: what comes again never changes its order. `torn`:
 * blocks are parts of documents, because they never part. `unknown`: none of these, or not yet.
 */
export type TrafficVerdict = 'unknown' | 'set' | 'sequence' | 'torn'

/** Plain numbers for people, and for the record. */
export interface TrafficFigures {
  readonly requests: number
  /** Lists learned from, and those of which the words were compared with questions. */
  readonly lists: number
  readonly judgedLists: number
  readonly repeatedLists: number
  readonly repeatedQuestions: number
  readonly recurringPairs: number
  readonly flips: number
  readonly shareOfFlips: number
  readonly flippedPairs: number
  readonly flippingLists: number
  readonly movers: number
  /** Lists much like an earlier one: with a few documents moved, and in another order. */
  readonly movedLists: number
  readonly mixedLists: number
  /** Lists in a row, about, that stand like an earlier one. */
  readonly alikeLists: number
  readonly shareOfReturns: number
  readonly shareOfStuck: number
  /** How many times likelier the lists fit their questions than not, 10,000 at most; also their first documents more. */
  readonly memberEvidence: number
  readonly rankEvidence: number
}

/** Every how manyth list is read once the words have told what they can; of sampled lists, more. */
const rereadEvery = { list: 8, sampled: 2 } as const
/** Lists judged after which words that told nothing are read seldom. */
const enoughJudged = 64

/**
 * Once traffic has told what it can, after so many lists at least, it learns from some lists of each so many, in a row:
 * what comes again at once, such as a retry, is seen in proportion.
 */
const sampled = { after: 256, of: 16, lists: 4 } as const

const setNeeds = {
  flippedPairs: 6,
  flippingLists: 3,
  movers: 3,
  share: 0.12,
  returns: 0.1,
  followed: 10,
  stuck: 0.15,
} as const
const evidence = { needed: 1_000, kept: 10 } as const
/** Below this share of flips a set is taken back. */
const shareKept = 0.05
/** So many lists in a row that stand like earlier ones have an order of their own; fewer, after which a set is known again. */
const alike = { most: 8, again: 4 } as const
const sequenceNeeds = { equal: 30, share: 0.02 } as const
const tornNeeds = { followed: 16, stuck: 0.25 } as const

/**
 * What traffic shows of one template: whether its lists are sets, ranked by relevance. It depends on the order of the calls
 * of `note` alone, holds hashes and counts, and takes 64 KB at most.
 */
export class TrafficEvidence {
  readonly #order: OrderEvidence = new OrderEvidence()
  readonly #relevance: Relevance = new Relevance()
  #whole = { requests: 0, judged: 0, isSet: false }

  note(sighting: Sighting): void {
    if (this.#whole.requests++ % sampled.of >= sampled.lists && this.#isSettled) return
    const places = uniquePlaces(sighting.contents)
    if (places.size < 3) return
    const keys = [...places.keys()]
    const question = hashText(sighting.question)
    const isNew = this.#order.learn(keys, question)
    if (isNew !== undefined && this.#isReadable()) {
      const texts = [...places.values()].map((place) => sighting.text(place))
      if (this.#relevance.learn(sighting.question, question, texts, isNew)) this.#whole.judged++
    }
    this.#whole.isSet = this.#whole.isSet ? this.#keepsSet() : this.#makesSet()
  }

  get verdict(): TrafficVerdict {
    if (this.#whole.isSet) return 'set'
    const { equal, flips, flippedPairs } = this.#order.counts
    const isFlipping = flippedPairs >= setNeeds.flippedPairs && this.#order.shareOfFlips >= sequenceNeeds.share
    if (isFlipping && this.#isTorn) return 'torn'
    return flips + equal >= sequenceNeeds.equal && this.#order.shareOfFlips < sequenceNeeds.share
      ? 'sequence'
      : 'unknown'
  }

  /** Whether they may soon be known to be sets: their order changes as in sets, and fits questions better than not. */
  get isPromising(): boolean {
    return !this.#hasState() && this.#order.shareOfFlips >= setNeeds.share && this.#wealth > 1
  }

  get figures(): TrafficFigures {
    const { counts, shareOfFlips } = this.#order
    return {
      requests: this.#whole.requests,
      lists: counts.lists,
      judgedLists: this.#whole.judged,
      repeatedLists: counts.again,
      repeatedQuestions: counts.askedAgain,
      recurringPairs: counts.flips + counts.equal,
      flips: counts.flips,
      shareOfFlips,
      flippedPairs: counts.flippedPairs,
      flippingLists: counts.flippingLists,
      movers: counts.movers,
      movedLists: counts.nearMoved,
      mixedLists: counts.nearMixed,
      alikeLists: counts.alike,
      shareOfReturns: counts.returned / Math.max(1, counts.seenAgain),
      shareOfStuck: this.#shareOfStuck,
      memberEvidence: this.#relevance.member.wealth,
      rankEvidence: this.#relevance.rank.wealth,
    }
  }

  /** A value for JSON, of 64 KB at most: hashes and counts, never words. The last questions are left out. */
  toRecord(): unknown {
    return packRecord(this.#whole, this.#order, this.#relevance)
  }

  /** Undefined if it is no record of this version. */
  static fromRecord(value: unknown): TrafficEvidence | undefined {
    const restored = new TrafficEvidence()
    const whole = unpackRecord(value, restored.#order, restored.#relevance)
    if (whole === undefined) return undefined
    restored.#whole = whole
    return restored
  }

  /** Whether more lists would change nothing soon: nothing is near where a verdict is given or taken back. */
  get #isSettled(): boolean {
    const { counts, shareOfFlips } = this.#order
    if (counts.lists < sampled.after) return false
    if (!this.#whole.isSet) return this.#whole.judged >= enoughJudged
    const isSure = shareOfFlips >= 2 * setNeeds.share && this.#shareOfStuck <= setNeeds.stuck
    return isSure && counts.alike < alike.again && counts.nearMoved < counts.nearMixed + 4 && !this.#relevance.isFalling
  }

  /** Texts are read until the words have told what they can, then now and then, and again when they say otherwise. */
  #isReadable(): boolean {
    const isTold = this.#whole.isSet
      ? !this.#relevance.isFalling
      : this.#whole.judged >= enoughJudged || this.verdict === 'sequence'
    return !isTold || this.#order.counts.lists % rereadEvery[this.#isSettled ? 'sampled' : 'list'] === 0
  }

  #makesSet(): boolean {
    const { followed, stuck } = this.#order.counts
    const areApart = followed >= setNeeds.followed && (stuck + 2) / (followed + 4) <= setNeeds.stuck
    return this.#isOrderOfSet && this.#order.counts.alike < alike.again && areApart && this.#wealth >= evidence.needed
  }

  #keepsSet(): boolean {
    const isStillSet = this.#order.shareOfFlips >= shareKept && !this.#isTorn && !this.#hasState()
    return isStillSet && this.#wealth >= evidence.kept
  }

  get #isOrderOfSet(): boolean {
    const { flippedPairs, flippingLists, movers, returned, seenAgain } = this.#order.counts
    return (
      flippedPairs >= setNeeds.flippedPairs &&
      flippingLists >= setNeeds.flippingLists &&
      movers >= setNeeds.movers &&
      this.#order.shareOfFlips >= setNeeds.share &&
      returned >= setNeeds.returns * seenAgain &&
      !this.#hasState()
    )
  }

  /** How much likelier it is that lists fit their questions, and that their first documents do so more. */
  get #wealth(): number {
    return Math.min(this.#relevance.member.wealth, this.#relevance.rank.wealth)
  }

  /**
   * Whether orders follow from those before, as in lists of what was used last or in one fixed order, or from nothing,
   * as where each question comes with its documents in several orders.
   */
  #hasState(): boolean {
    const { nearMoved, nearMixed, askedAgain, lists, alike: inRow } = this.#order.counts
    return (
      inRow >= alike.most ||
      (nearMoved >= 4 && nearMixed < nearMoved / 4) ||
      (askedAgain >= 4 && askedAgain > lists / 4)
    )
  }

  /** Whether blocks stay together too often to be documents of their own. */
  get #isTorn(): boolean {
    return this.#order.counts.followed >= tornNeeds.followed && this.#shareOfStuck > tornNeeds.stuck
  }

  get #shareOfStuck(): number {
    return this.#order.counts.stuck / Math.max(1, this.#order.counts.followed)
  }
}

/** Key and place of each document, without those that stand twice in the list: a repeated paragraph proves no order. */
function uniquePlaces(contents: readonly BlockId[]): Map<number, number> {
  const places = new Map<number, number>()
  const repeated = new Set<number>()
  for (const [place, id] of contents.entries()) {
    const key = hashText(id, 12)
    if (places.has(key)) repeated.add(key)
    else if (places.size < mostListed) places.set(key, place)
  }
  for (const key of repeated) places.delete(key)
  return places
}

/** Returns 32 bits for a text, or for the first characters of an identity. */
function hashText(text: string, length = text.length): number {
  let hash = 0x811c9dc5 | 0
  for (let i = 0; i < length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return hash
}
