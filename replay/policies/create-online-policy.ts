import { PaperOrdering } from '#index/paper-ordering.ts'
import { PrefixOrdering } from '#index/prefix-ordering.ts'
import { IndexPolicy } from './index-policy.ts'
import type { OnlinePolicy } from './online-policy.ts'
import type { OrderingName } from './policy-names.ts'
import { rankOrder, sortedOrder } from './static-orders.ts'
import { StaticPolicy } from './static-policy.ts'

const creators: Readonly<Record<OrderingName, () => OnlinePolicy>> = {
  rank: () => new StaticPolicy(rankOrder),
  sorted: () => new StaticPolicy(sortedOrder),
  paper: () => new IndexPolicy(() => new PaperOrdering()),
  reprise: () => new IndexPolicy(() => new PrefixOrdering()),
}

/** A policy that has seen nothing yet: one for every run. */
export function createOnlinePolicy(name: OrderingName): OnlinePolicy {
  return creators[name]()
}
