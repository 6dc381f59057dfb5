import type { Context, RequestId } from '#index/context-block.ts'
import { getOrMake } from '#index/get-or-make.ts'
import { groupBy } from '#index/group-by.ts'
import type { OrderingIndex } from '#index/ordering/ordering-index.ts'
import { PrefixOrdering } from '#index/ordering/prefix-ordering.ts'
import { alignContext } from '#index/plan/align-context.ts'
import { planContexts } from '#index/plan/plan-contexts.ts'
import { scheduleContexts } from '#scheduler/schedule-contexts.ts'
import { buildIndex } from '../paper/build-index.ts'
import { ContextIndex } from '../paper/context-index.ts'
import { isAsReceived, type ReplayRequest, toRequestId } from '../replay-request.ts'
import {
  type OnlinePolicy,
  type OrderingName,
  type PlanBatch,
  type PlannedRequest,
  rankOrder,
  sortedOrder,
} from './policy.ts'

/** How a policy orders requests as they arrive, and how it plans a batch. */
interface Policy {
  /** Creates one without any history. Every run needs its own. */
  online(): OnlinePolicy
  readonly offline: PlanBatch
}

export const policies: Readonly<Record<OrderingName, Policy>> = {
  rank: alone(rankOrder),
  sorted: alone(sortedOrder),
  paper: {
    online: () => new IndexPolicy(() => new ContextIndex()),
    offline: (requests) => planTenants(requests, planByPaper),
  },
  reprise: {
    online: () => new IndexPolicy(() => new PrefixOrdering()),
    // merges the contexts that share most first, and runs the tree of merges depth first
    offline: (requests) =>
      planTenants(requests, (own) =>
        planContexts(own).map((planned) => ({ ...planned, request: own[planned.request]! })),
      ),
  },
}

/** Orders every request by itself, whatever was sent before. */
function alone(order: (request: ReplayRequest) => number[]): Policy {
  return {
    online: () => ({ order, holds: () => {} }),
    offline: (requests) =>
      requests.map((request, group) => {
        return { request, order: request.fixed ? rankOrder(request) : order(request), group, searchPath: [] }
      }),
  }
}

/** Orders requests by indexes of what the cache holds, one index for each text before the blocks. */
export class IndexPolicy implements OnlinePolicy {
  readonly #createIndex: () => OrderingIndex
  readonly #indexes = new Map<string, OrderingIndex>()
  /** how many blocks of each request are cached */
  readonly #held = new Map<number, number>()

  constructor(createIndex: () => OrderingIndex) {
    this.#createIndex = createIndex
  }

  order({ scope, context, sizes, repeats }: ReplayRequest): readonly number[] {
    const index = this.#indexOf(scope)
    if (repeats.length === 0) return index.order(context, sizes).order
    const places = [...context.keys()]
    const fresh = places.filter((place) => !repeats.includes(place))
    const { order } = index.order(
      fresh.map((place) => context[place]!),
      fresh.map((place) => sizes[place]!),
    )
    return isAsReceived(order) ? places : [...order.map((from) => fresh[from]!), ...repeats]
  }

  holds({ scope, number, context, shortened, sizes }: ReplayRequest, order: readonly number[], blocks: number): void {
    if ((this.#held.get(number) ?? 0) === blocks) return
    this.#held.set(number, blocks)
    const index = this.#indexOf(scope)
    const sent = isAsReceived(order) ? context : shortened
    const places = order.slice(0, blocks)
    const held = places.map((place) => sent[place]!)
    if (blocks === 0) index.remove(toRequestId(number))
    else
      index.insert(
        held,
        places.map((place) => sizes[place]!),
        toRequestId(number),
      )
  }

  #indexOf(scope: string): OrderingIndex {
    return getOrMake(this.#indexes, scope, this.#createIndex)
  }
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

/**
 * Offline mode as in ContextPilot (§7.1): builds the index over the batch (Algorithm 4), aligns every context to its
 * leaf, which begins with its ancestors' blocks (Algorithm 2), and schedules the batch (Algorithm 5).
 */
function planByPaper(requests: readonly ReplayRequest[]): PlannedRequest[] {
  const batch = new Map<RequestId, Context>()
  for (const { number, context } of requests) if (context.length > 0) batch.set(toRequestId(number), context)
  const index = buildIndex(batch)
  const ordered = requests.map((request) => {
    const id = toRequestId(request.number)
    const order = alignContext(request.context, index.contextOf(id) ?? [])
    return { request, order, searchPath: index.pathOf(id) ?? [] }
  })
  const groups = new Map<unknown, number>()
  return scheduleContexts(ordered, ({ searchPath }) => searchPath).map((planned) => {
    const key = planned.searchPath[0] ?? planned
    const group = groups.get(key) ?? groups.size
    groups.set(key, group)
    return { ...planned, group }
  })
}
