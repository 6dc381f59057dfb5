import type { ReplayRequest } from '../replay-request.ts'
import { BlockParts } from './block-parts.ts'
import { isFramed, type PromptFrame, piecesOf } from './prompt-layout.ts'

/**
 * Returns the upper bound for any order: the prompt tokens in blocks, or in the system prompt, that an earlier request
 * of the tenant had at any position. No prefix cache can share more, and one of whole pages shares slightly less.
 */
export function countSeenBefore(requests: readonly ReplayRequest[], { systemTokens }: PromptFrame): number {
  const divided = new BlockParts()
  const seenBy = new Map<string, Set<string>>()
  let tokens = 0
  for (const request of requests) {
    const seen = seenBy.get(request.tenant)
    const parts = piecesOf(request).flatMap((block) => divided.of(block).parts)
    if (seen && isFramed(request)) tokens += systemTokens
    if (seen) tokens += parts.reduce((sum, part) => sum + (seen.has(part.key) ? part.tokens : 0), 0)
    const known = seen ?? new Set()
    for (const { key } of parts) known.add(key)
    seenBy.set(request.tenant, known)
  }
  return tokens
}
