import { PrefixOrdering } from '#index/ordering/prefix-ordering.ts'
import type { ReplayRequest } from '../replay-request.ts'
import { IndexPolicy } from './index-policy.ts'
import type { PlannedRequest } from './offline-policy.ts'
import { scheduleBatch } from './schedule-batch.ts'
import { rankOrder } from './static-orders.ts'

/** Schedules prompts whose order is fixed, by the tree of their prefixes. */
export function planFixed(requests: readonly ReplayRequest[]): PlannedRequest[] {
  const index = new IndexPolicy(() => new PrefixOrdering())
  const orders = requests.map(rankOrder)
  for (const [at, request] of requests.entries()) index.sent(request, orders[at]!)
  return scheduleBatch(
    requests.map((request, at) => ({ request, order: orders[at]!, searchPath: index.pathOf(request) })),
  )
}
