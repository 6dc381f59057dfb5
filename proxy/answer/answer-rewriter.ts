import { BodyRewriter } from './body-rewriter.ts'
import { CitationLabels, type CitationMap } from './citations/citation-labels.ts'
import type { AnswerApi } from './find-answer-texts.ts'
import { StreamRewriter } from './stream-rewriter.ts'

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

/**
 * A rewriter that brings an answer's citations into the caller's numbering; undefined when there is nothing to map or
 * the content type is none that is read. The answer must not be encoded, and its length may change.
 */
export function createAnswerRewriter(
  api: AnswerApi,
  contentType: string,
  map: CitationMap,
  limits: AnswerLimits = {},
): AnswerRewriter | undefined {
  const labels = new CitationLabels(map)
  if (labels.isIdentity) return undefined
  const [type = '', ...parameters] = contentType.toLowerCase().split(';')
  if (parameters.some((parameter) => /^\s*charset=(?!"?utf-?8)/.test(parameter))) return undefined
  if (type.trim() === 'text/event-stream') return new StreamRewriter(api, labels, limits.event)
  if (/^application\/(?:[\w.-]+\+)?json$/.test(type.trim())) return new BodyRewriter(api, labels, limits.body)
  return undefined
}
