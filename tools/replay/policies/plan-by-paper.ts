import type { Context, RequestId } from '#index/context-block.ts'
import { alignContext } from '#index/plan/align-context.ts'
import { scheduleContexts } from '#scheduler/schedule-contexts.ts'
import { buildIndex } from '../paper/build-index.ts'
import { type ReplayRequest, toRequestId } from '../replay-request.ts'
import type { PlannedRequest } from './policy.ts'

/**
 * Offline mode as in ContextPilot (§7.1): builds the index over the batch (Algorithm 4), aligns every context to its
 * leaf, which begins with its ancestors' blocks (Algorithm 2), and schedules the batch (Algorithm 5).
 */
export function planByPaper(requests: readonly ReplayRequest[]): PlannedRequest[] {
  const batch = new Map<RequestId, Context>()
  for (const { number, context } of requests) if (context.length > 0) batch.set(toRequestId(number), context)
  const index = buildIndex(batch)
  return scheduleBatch(
    requests.map((request) => {
      const id = toRequestId(request.number)
      const order = alignContext(request.context, index.contextOf(id) ?? [])
      return { request, order, searchPath: index.pathOf(id) ?? [] }
    }),
  )
}

/** Schedules ordered requests by their search paths (Algorithm 5) and counts their groups. */
function scheduleBatch(ordered: readonly Omit<PlannedRequest, 'group'>[]): PlannedRequest[] {
  const groups = new Map<unknown, number>()
  return scheduleContexts(ordered, ({ searchPath }) => searchPath).map((planned) => {
    const key = planned.searchPath[0] ?? planned
    const group = groups.get(key) ?? groups.size
    groups.set(key, group)
    return { ...planned, group }
  })
}
