import { PrefixOrdering } from '#index/ordering/prefix-ordering.ts'
import { PaperOrdering } from '../paper/paper-ordering.ts'
import { IndexPolicy } from './index-policy.ts'
import type { OnlinePolicy } from './online-policy.ts'
import type { OrderingName } from './policy-names.ts'
import { rankOrder, sortedOrder } from './static-orders.ts'
import { StaticPolicy } from './static-policy.ts'

/** Settings of policies. */
export interface PolicySettings {
  /** maximum distance at which `reprise` may place a block from its rank; default: unlimited */
  readonly maxDisplacement?: number
}

const creators: Readonly<Record<OrderingName, (settings: PolicySettings) => OnlinePolicy>> = {
  rank: () => new StaticPolicy(rankOrder),
  sorted: () => new StaticPolicy(sortedOrder),
  paper: () => new IndexPolicy(() => new PaperOrdering()),
  reprise: ({ maxDisplacement = Number.POSITIVE_INFINITY }) =>
    new IndexPolicy(() => new PrefixOrdering({ maxDisplacement })),
}

/** Creates a policy without any history. Every run needs its own. */
export function createOnlinePolicy(name: OrderingName, settings: PolicySettings = {}): OnlinePolicy {
  return creators[name](settings)
}
