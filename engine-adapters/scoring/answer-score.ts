import type { PromptApi } from '../prompt-api.ts'

/** Members of a body. */
export type Members = Readonly<Record<string, unknown>>

/** A request to the engine that says how likely tokens are, or which they are. */
export interface ScoreQuestion {
  readonly path: string
  readonly body: Members
}

/** An answer that a model gave, and the prompt under which it is to be scored. */
export interface ScoredAnswer {
  readonly api: PromptApi
  /** members of the body as the engine gets it: any order of the documents, its cache salt included */
  readonly members: Members
  /** the answer's text as the engine wrote it; only its beginning is scored */
  readonly answer: string
  /** tokens of the prompt, roughly; undefined if nobody counted them */
  readonly promptTokens: number | undefined
}

/**
 * Log probabilities of tokens of an answer, in its order: of the same tokens in each order of the prompt. Undefined where
 * there is no one prompt of text with an answer behind it, and where the engine refuses or says something else.
 */
export type AnswerScores = readonly number[] | undefined

/** Sends a question; resolves to the JSON of its answer, undefined if the engine refused it. */
export type AskScores = (question: ScoreQuestion) => Promise<unknown>

/** How a kind of engine is asked how likely an answer is. Nothing is decoded but one token a question. */
export type ScoreAnswer = (scored: ScoredAnswer, ask: AskScores) => Promise<AnswerScores>
