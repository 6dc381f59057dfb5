import type { PromptApi } from '#engine-adapters/prompt-api.ts'
import { BodyRewriter } from './body-rewriter.ts'
import type { PromptLabels } from './prompt-labels.ts'
import { StreamRewriter } from './stream-rewriter.ts'

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

/**
 * Creates a rewriter that translates an answer's citations into the caller's numbering; undefined if there is nothing
 * to map or the content type is not supported. The answer must not be encoded, and its length may change.
 */
export function createAnswerRewriter(
  api: PromptApi,
  contentType: string,
  labels: PromptLabels,
  limits: AnswerLimits = {},
): AnswerRewriter | undefined {
  if (labels.isIdentity) return undefined
  const [type = '', ...parameters] = contentType.toLowerCase().split(';')
  if (parameters.some((parameter) => /^\s*charset=(?!"?utf-?8)/.test(parameter))) return undefined
  if (type.trim() === 'text/event-stream') return new StreamRewriter(api, labels, limits.event)
  if (/^application\/(?:[\w.-]+\+)?json$/.test(type.trim())) return new BodyRewriter(api, labels, limits.body)
  return undefined
}
