import type { BlockId } from '#index/context-block.ts'
import type { ReplayRequest } from '../replay-request.ts'
import type { PromptFrame } from './prompt-layout.ts'

/**
 * The bound of every order: prompt tokens whose block, or the system prompt, an earlier request of the tenant had at
 * any place. No cache of prefixes can share more, and none that is whole pages quite as much.
 */
export function countSeenBefore(requests: readonly ReplayRequest[], { systemTokens }: PromptFrame): number {
  const seenBy = new Map<string, Set<BlockId>>()
  let tokens = 0
  for (const request of requests) {
    const seen = seenBy.get(request.tenant)
    if (seen) tokens += countSeen(request, seen, systemTokens)
    const known = seen ?? new Set()
    for (const { key } of piecesOf(request)) known.add(key)
    seenBy.set(request.tenant, known)
  }
  return tokens
}

function countSeen(request: ReplayRequest, seen: ReadonlySet<BlockId>, systemTokens: number): number {
  const system = request.fixed || request.trace.around ? 0 : systemTokens
  return piecesOf(request).reduce((sum, { key, size }) => sum + (seen.has(key) ? size : 0), system)
}

/** All that a prompt is made of and that is known by a name. */
function piecesOf({ context, sizes, trace }: ReplayRequest): { readonly key: BlockId; readonly size: number }[] {
  const { front = [], rest = [] } = trace.around ?? {}
  const around = [...front, ...rest].map(({ key, tokens }) => ({ key, size: tokens }))
  return [...context.map((key, place) => ({ key, size: sizes[place]! })), ...around]
}
