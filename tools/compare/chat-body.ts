/** The body of a request to `/v1/chat/completions`. */
export type ChatBody = Readonly<Record<string, unknown>>

/** What a comparison sets in every body. */
export interface ChatSettings {
  readonly model: string
  readonly maxTokens: number
  /** separates the engine's cache from that of other passes; undefined: the engine would not accept it */
  readonly cacheSalt: string | undefined
  readonly hasLogProbabilities: boolean
}

// engines refuse these together with the members set below: a minimum length, and what cannot be streamed
const inTheWay = ['max_tokens', 'max_completion_tokens', 'min_tokens', 'logprobs', 'top_logprobs', 'prompt_logprobs']

/**
 * Returns a body whose answer can be compared: a single answer, at temperature 0, streamed with its usage. Also sets the
 * model, the maximum length, log-probabilities and the salt; a salt that the body already has keeps its effect.
 * Everything else stays as it is.
 */
export function toChatBody(
  body: ChatBody,
  { model, maxTokens, cacheSalt, hasLogProbabilities }: ChatSettings,
): ChatBody {
  const kept = Object.entries(body).filter(([name]) => !inTheWay.includes(name))
  // newer models refuse `max_tokens`, older engines do not know the other: keep the one that the body has
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
