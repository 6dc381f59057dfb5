import type { BlockId } from '#index/context-block.ts'
import type { PromptFrame } from './prompt-layout.ts'
import type { ReplayRequest } from './replay-request.ts'

/**
 * The bound of every order: prompt tokens whose block, or the system prompt, an earlier request of the tenant had at
 * any place. No cache of prefixes can share more, and none that is whole pages quite as much.
 */
export function countSeenBefore(requests: readonly ReplayRequest[], { systemTokens }: PromptFrame): number {
  const seenBy = new Map<string, Set<BlockId>>()
  let tokens = 0
  for (const { tenant, context, sizes, fixed } of requests) {
    const seen = seenBy.get(tenant)
    if (seen && !fixed) tokens += systemTokens
    context.forEach((block, place) => {
      if (seen?.has(block)) tokens += sizes[place]!
    })
    const known = seen ?? new Set()
    for (const block of context) known.add(block)
    seenBy.set(tenant, known)
  }
  return tokens
}
