import type { Context, RequestId } from '#index/context-block.ts'
import { groupBy } from '#index/group-by.ts'
import { alignContext } from '#index/plan/align-context.ts'
import { planContexts } from '#index/plan/plan-contexts.ts'
import { scheduleContexts } from '#scheduler/schedule-contexts.ts'
import { buildIndex } from '../paper/build-index.ts'
import { type ReplayRequest, toRequestId } from '../replay-request.ts'
import { type OrderingName, type PlanBatch, type PlannedRequest, rankOrder, sortedOrder } from './policy.ts'

/** How each policy plans a batch. */
export const offlinePlans: Readonly<Record<OrderingName, PlanBatch>> = {
  rank: (requests) => keepArrivals(requests, rankOrder),
  sorted: (requests) => keepArrivals(requests, sortedOrder),
  paper: (requests) => planTenants(requests, planByPaper),
  reprise: (requests) => planTenants(requests, planByReprise),
}

function keepArrivals(
  requests: readonly ReplayRequest[],
  orderOf: (request: ReplayRequest) => number[],
): PlannedRequest[] {
  return requests.map((request, group) => {
    const order = request.fixed ? rankOrder(request) : orderOf(request)
    return { request, order, group, searchPath: [] }
  })
}

/** Plans the batch of each tenant separately, because tenants share nothing. The batches run one after the other. */
export function planTenants(requests: readonly ReplayRequest[], plan: PlanBatch): PlannedRequest[] {
  const batches = groupBy(requests, ({ tenant }) => tenant)
  const planned: PlannedRequest[] = []
  let groups = 0
  for (const batch of batches.values()) {
    const first = groups
    for (const one of plan(batch)) {
      const order = one.request.fixed ? rankOrder(one.request) : one.order
      planned.push({ ...one, order, group: first + one.group })
      groups = Math.max(groups, first + one.group + 1)
    }
  }
  return planned
}

/** Our offline mode: merges the contexts that share most first, and runs the tree of merges depth first. */
function planByReprise(requests: readonly ReplayRequest[]): PlannedRequest[] {
  return planContexts(requests).map((planned) => ({ ...planned, request: requests[planned.request]! }))
}

/**
 * Offline mode as in ContextPilot (§7.1): builds the index over the batch (Algorithm 4), aligns every context to its
 * leaf, which begins with its ancestors' blocks (Algorithm 2), and schedules the batch (Algorithm 5).
 */
function planByPaper(requests: readonly ReplayRequest[]): PlannedRequest[] {
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
