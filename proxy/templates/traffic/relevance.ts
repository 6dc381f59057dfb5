import { hashWords } from './hash-words.ts'
import { ranks, Wager } from './wager.ts'
import { WordCounts } from './word-counts.ts'

/** A word tells something about a question if it is in no more than this share of the documents and of the questions. */
const rareShare = 0.2
const mostQuestionWords = 48
/** Characters read of a long text beside the lists: the question stands before or behind it. */
const readAtEachEnd = 1_000
/** Other questions that each question is held against. */
const controls = ranks - 1
/** Shares of a list that are left out, those that fit the question best. */
const leftOut = { forMember: 0.5, forRank: 0.2 } as const

interface Question {
  readonly hash: number
  readonly words: readonly number[]
}

/** How well a list fits a question. */
interface Fit {
  /** What the documents that fit less have of the question, in sum. */
  readonly member: number
  /** How much more the first ones have than the last, without those that fit best. */
  readonly rank: number
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
    const documents = texts.map((text) => {
      const words = new Set<number>()
      hashWords(text, words)
      return words
    })
    documents.forEach((words, i) => {
      if (isNew[i]) this.inDocuments.add(words)
    })
    const own: Question = { hash, words: this.#wordsOf(question) }
    this.inQuestions.add(own.words)
    const others = this.#asked.filter((other) => other.hash !== hash)
    this.#asked = [...others, own].slice(-controls)
    if (others.length < controls) return false
    const fit = this.#fit(own, documents)
    const fits = others.map((other) => this.#fit(other, documents))
    betOn(
      this.member,
      fit.member,
      fits.map(({ member }) => member),
    )
    betOn(
      this.rank,
      fit.rank,
      fits.map(({ rank }) => rank),
    )
    return true
  }

  #fit({ words }: Question, documents: readonly ReadonlySet<number>[]): Fit {
    const rare = words.filter((word) => this.#isRare(word))
    const weights = rare.map((word) => Math.log((this.inDocuments.texts + 1) / (this.inDocuments.of(word) + 0.5)))
    const total = weights.reduce((sum, weight) => sum + weight, 0)
    if (total <= 0) return { member: 0, rank: 0 }
    const bestFirst = documents
      .map((document, place) => ({
        place,
        share: rare.reduce((sum, word, i) => sum + (document.has(word) ? weights[i]! : 0), 0) / total,
      }))
      .toSorted((a, b) => b.share - a.share)
    const rest = bestFirst.slice(Math.ceil(documents.length * leftOut.forRank)).toSorted((a, b) => a.place - b.place)
    return {
      member: bestFirst
        .slice(Math.ceil(documents.length * leftOut.forMember))
        .reduce((sum, { share }) => sum + share, 0),
      rank: rest.reduce((sum, { share }, at) => sum + share * ((rest.length - 1) / 2 - at), 0),
    }
  }

  #wordsOf(question: string): number[] {
    const words = new Set<number>()
    hashWords(question.slice(0, readAtEachEnd), words)
    hashWords(question.slice(Math.max(readAtEachEnd, question.length - readAtEachEnd)), words)
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

function betOn(wager: Wager, own: number, others: readonly number[]): void {
  const low = others.filter((other) => other < own).length
  wager.bet(low, low + others.filter((other) => other === own).length)
}
