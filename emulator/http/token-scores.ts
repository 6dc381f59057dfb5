import type { ReadToken } from '../reader/reader.ts'

/** vLLM's `prompt_logprobs`: nothing for the first token; `more` is how many others are wanted, of which one is known. */
export function toPromptLogprobs(tokens: readonly ReadToken[]): (object | null)[] {
  return tokens.map(({ id, text, logprob }, i) =>
    i === 0 ? null : { [id]: { logprob, rank: rankOf(logprob), decoded_token: text } },
  )
}

/** A completion's `logprobs` of its first token, the likeliest first. */
export function toCompletionLogprobs(tokens: readonly ReadToken[], asIds: boolean): object {
  const nameOf = ({ id, text }: ReadToken): string => (asIds ? `token_id:${id}` : text)
  const [first] = tokens
  return {
    text_offset: first ? [0] : [],
    token_logprobs: first ? [first.logprob] : [],
    tokens: first ? [nameOf(first)] : [],
    top_logprobs: first ? [Object.fromEntries(tokens.map((token) => [nameOf(token), token.logprob]))] : [],
  }
}

/** SGLang's `input_token_logprobs` from a token on, for which it knows none. */
export function toInputLogprobs(tokens: readonly ReadToken[], start: number): [number | null, number, null][] {
  return tokens.slice(start).map(({ id, logprob }, i) => [i === 0 ? null : logprob, id, null])
}

const rankOf = (logprob: number): number => (logprob > -1 ? 1 : 2)
