import type { BlockId } from '#index/context-block.ts'
import type { ReplayRequest } from '../replay-request.ts'
import type { PromptFrame } from './prompt-layout.ts'

/**
 * Returns the upper bound for any order: the prompt tokens in blocks, or in the system prompt, that an earlier request
 * of the tenant had at any position. No prefix cache can share more, and one of whole pages shares slightly less.
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

/** Returns all pieces of a prompt that have a key. */
function piecesOf({ context, sizes, trace }: ReplayRequest): { readonly key: BlockId; readonly size: number }[] {
  const { front = [], rest = [] } = trace.around ?? {}
  const around = [...front, ...rest].map(({ key, tokens }) => ({ key, size: tokens }))
  return [...context.map((key, place) => ({ key, size: sizes[place]! })), ...around]
}
