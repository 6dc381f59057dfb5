import type { AnswerScores } from './answer-score.ts'

/** A token of a prompt, and how likely it was after all before it. */
export interface ScoredToken {
  readonly text: string
  readonly logprob: number
}

/**
 * Finds the tokens of an answer at the end of a prompt; undefined if the prompt does not end in it. White space is not
 * compared: some tokenizers leave it out where they write single tokens.
 */
export function alignTokens(tokens: readonly ScoredToken[], answer: string): AnswerScores {
  let left = withoutSpace(answer)
  const scores: number[] = []
  for (let at = tokens.length - 1; at >= 0 && left !== ''; at--) {
    const { text, logprob } = tokens[at]!
    const words = withoutSpace(text)
    // a token may begin in front of the answer
    if (!left.endsWith(words) && !words.endsWith(left)) return undefined
    scores.push(logprob)
    left = left.slice(0, Math.max(0, left.length - words.length))
  }
  return left === '' && scores.length > 0 ? scores.reverse() : undefined
}

function withoutSpace(text: string): string {
  return text.replaceAll(/\s+/g, '')
}
