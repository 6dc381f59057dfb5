/** Rewrites an engine's answer on its way to the client. The buffers it returns, put together, are the answer. */
export interface AnswerRewriter {
  /** Takes the next bytes; returns those to send now, possibly none. */
  push(chunk: Buffer): Buffer
  /** Returns the rest, once the engine's answer is over. */
  end(): Buffer
  /** How many citations were changed. */
  readonly remapped: number
  /** Whether something was too large to be gathered and went through unchanged. */
  readonly overflowed: boolean
  /** An internal error, since which everything goes through unchanged. */
  readonly fault: unknown
}

/** How many bytes may be gathered. */
export interface AnswerLimits {
  readonly event?: number
  readonly body?: number
}
