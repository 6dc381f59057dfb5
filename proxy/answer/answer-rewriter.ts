/** Rewrites an engine's answer on its way to the client; what it gives back, put together, is the answer. */
export interface AnswerRewriter {
  /** The bytes to send now, possibly none. */
  push(chunk: Buffer): Buffer
  /** The rest, when the engine's answer is over. */
  end(): Buffer
  /** How many citations were changed. */
  readonly remapped: number
  /** Something was too large to be gathered and went through as it came. */
  readonly overflowed: boolean
  /** A fault of ours, since which all goes through as it comes. */
  readonly fault: unknown
}

/** How many bytes are gathered. */
export interface AnswerLimits {
  readonly event?: number
  readonly body?: number
}
