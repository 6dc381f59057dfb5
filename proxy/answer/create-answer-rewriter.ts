import type { AnswerLimits, AnswerRewriter } from './answer-rewriter.ts'
import { BodyRewriter } from './body-rewriter.ts'
import type { AnswerApi } from './find-answer-texts.ts'
import type { PromptLabels } from './prompt-labels.ts'
import { StreamRewriter } from './stream-rewriter.ts'

/**
 * Creates a rewriter that translates an answer's citations into the caller's numbering; undefined if there is nothing
 * to map or the content type is not supported. The answer must not be encoded, and its length may change.
 */
export function createAnswerRewriter(
  api: AnswerApi,
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
