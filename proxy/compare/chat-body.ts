/** The body of a request to `/v1/chat/completions`. */
export type ChatBody = Readonly<Record<string, unknown>>

/** What a comparison sets in every body. */
export interface ChatSettings {
  readonly model: string
  readonly maxTokens: number
  /** separates the engine's cache from that of other passes; undefined: the engine would not take it */
  readonly cacheSalt: string | undefined
  readonly hasLogProbabilities: boolean
}

// engines refuse them beside the members set below: a least length, and what cannot be streamed
const inTheWay = ['max_tokens', 'max_completion_tokens', 'min_tokens', 'logprobs', 'top_logprobs', 'prompt_logprobs']

/**
 * Returns a body whose answer can be compared: one, at temperature 0, streamed with its usage. The model, the longest
 * answer, log-probabilities and the salt are set, too; a salt that the body has still separates what it separated.
 * Everything else stays as it is.
 */
export function toChatBody(
  body: ChatBody,
  { model, maxTokens, cacheSalt, hasLogProbabilities }: ChatSettings,
): ChatBody {
  const kept = Object.entries(body).filter(([name]) => !inTheWay.includes(name))
  // newer models refuse `max_tokens`, older engines do not know the other: a body has what its engine takes
  const longest = typeof body.max_completion_tokens === 'number' ? 'max_completion_tokens' : 'max_tokens'
  return {
    ...Object.fromEntries(kept),
    model,
    [longest]: maxTokens,
    temperature: 0,
    n: 1,
    stream: true,
    stream_options: { include_usage: true },
    ...(hasLogProbabilities ? { logprobs: true } : {}),
    ...(cacheSalt === undefined ? {} : { cache_salt: [cacheSalt, body.cache_salt].filter(isText).join('-') }),
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}
