import { hashWords } from './hash-words.ts'
import { WordCounts } from './word-counts.ts'

/** What is paid for each rank among six, lowest first: it is 1 on average if all ranks are equally likely. */
const payments = [
  [0.5, 0.7, 0.9, 1.1, 1.3, 1.5],
  [0.25, 0.35, 0.5, 0.8, 1.4, 2.7],
] as const
export const ranks: number = payments[0].length

/** A word tells something about a question if it is in no more than this share of the documents and of the questions. */
const rareShare = 0.2
const mostQuestionWords = 48
/** Characters read of a long text beside the lists: the question stands before or behind it. */
const readAtEachEnd = 1_000
/** Other questions that each question is held against. */
const controls = ranks - 1
/** Shares of a list that are left out, those that fit the question best. */
const leftOut = { forMember: 0.4, forRank: 0.1 } as const

interface Question {
  readonly hash: number
  readonly words: readonly number[]
}

/**
 * Whether lists answer their questions, the first documents more than the last. Each question is held against the last
 * other ones, on the same list: if the list has nothing to do with its question, each of them is as likely to fit it best.
 * So popular documents, long ones and the words of the template are no evidence. The documents that fit best are left
 * out: a history holds the item that is asked about, but the rest of it tells nothing about the question.
 */
export class Relevance {
  readonly inDocuments: WordCounts = new WordCounts(4_096)
  readonly inQuestions: WordCounts = new WordCounts(1_024)
  readonly member: Wager = new Wager()
  readonly rank: Wager = new Wager()
  #asked: Question[] = []

  /** Whether wealth was lost since it was greatest: then every list is worth reading. */
  get isFalling(): boolean {
    return this.member.isFalling || this.rank.isFalling
  }

  /** Returns whether the list was judged: it is not before there were other questions. `isNew` tells of each document if it is. */
  learn(question: string, hash: number, texts: readonly string[], isNew: readonly boolean[]): boolean {
    const documents = texts.map((text) => hashWords(text))
    documents.forEach((words, i) => {
      if (isNew[i]) this.inDocuments.add(words)
    })
    const own: Question = { hash, words: this.#wordsOf(question) }
    this.inQuestions.add(own.words)
    const others = this.#asked.filter((other) => other.hash !== hash)
    this.#asked = [...others, own].slice(-controls)
    if (others.length < controls) return false
    const shares = [own, ...others].map((asked) => this.#sharesOf(asked, documents))
    const places = documents.map((_, place) => place).toSorted((a, b) => shares[0]![b]! - shares[0]![a]!)
    const worse = places.slice(Math.ceil(places.length * leftOut.forMember))
    betOn(
      this.member,
      shares.map((share) => worse.reduce((sum, place) => sum + share[place]!, 0)),
    )
    const rest = places.slice(Math.ceil(places.length * leftOut.forRank)).toSorted((a, b) => a - b)
    const middle = (rest.length - 1) / 2
    betOn(
      this.rank,
      shares.map((share) => rest.reduce((sum, place, at) => sum + share[place]! * (middle - at), 0)),
    )
    return true
  }

  /** How much of a question each document has, from 0 to 1. */
  #sharesOf({ words }: Question, documents: readonly ReadonlySet<number>[]): number[] {
    const rare = words.filter((word) => this.#isRare(word))
    const weights = rare.map((word) => Math.log((this.inDocuments.texts + 1) / (this.inDocuments.of(word) + 0.5)))
    const total = Math.max(
      1,
      weights.reduce((sum, weight) => sum + weight, 0),
    )
    return documents.map((document) => {
      let share = 0
      for (let i = 0; i < rare.length; i++) if (document.has(rare[i]!)) share += weights[i]!
      return share / total
    })
  }

  #wordsOf(question: string): number[] {
    const rest = question.slice(Math.max(readAtEachEnd, question.length - readAtEachEnd))
    const words = hashWords(question.slice(0, readAtEachEnd), rest)
    if (words.size <= mostQuestionWords) return [...words]
    const { inQuestions } = this
    return [...words].toSorted((a, b) => inQuestions.of(a) - inQuestions.of(b)).slice(0, mostQuestionWords)
  }

  #isRare(word: number): boolean {
    const { inDocuments, inQuestions } = this
    const count = inDocuments.of(word)
    return (
      count > 0 &&
      count <= Math.max(2, rareShare * inDocuments.texts) &&
      inQuestions.of(word) <= Math.max(2, rareShare * inQuestions.texts)
    )
  }
}

/** Bets that the first of some values is the highest. */
function betOn(wager: Wager, [own, ...others]: readonly number[]): void {
  const low = others.filter((other) => other < own!).length
  wager.bet(low, low + others.filter((other) => other === own).length)
}

/** Limits of what is believed, as logarithms: evidence that cannot be lost outlives what it was of. */
const lowest = Math.log(1e-3)
const highest = Math.log(1e4)

/**
 * Wealth won by betting that a rank is high, 1 at first. If every rank is equally likely, the probability that it is ever
 * 1,000 or more is 1 in 1,000 at most, however often one looks (Ville's inequality).
 */
export class Wager {
  /** of its wealth, by payment */
  readonly logs: Float64Array = new Float64Array(payments.length)

  /** Bets on a rank that is one of those from `low` to `high`, by a tie. */
  bet(low: number, high: number): void {
    payments.forEach((payment, i) => {
      let sum = 0
      for (let rank = low; rank <= high; rank++) sum += payment[rank]!
      this.logs[i] = Math.min(highest, Math.max(lowest, this.logs[i]! + Math.log(sum / (high - low + 1))))
    })
  }

  get wealth(): number {
    return this.logs.reduce((sum, log) => sum + Math.exp(log), 0) / this.logs.length
  }

  /** Whether it was lost in part what could be won at most. */
  get isFalling(): boolean {
    return Math.max(...this.logs) < highest - 1
  }
}
