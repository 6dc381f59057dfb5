import { PrefixOrdering } from '#index/ordering/prefix-ordering.ts'
import { PaperOrdering } from '../paper/paper-ordering.ts'
import type { ReplayRequest } from '../replay-request.ts'
import { IndexPolicy } from './index-policy.ts'
import type { OnlinePolicy, OrderingName } from './policy.ts'
import { rankOrder, sortedOrder } from './static-orders.ts'

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

/** Orders every request by itself, whatever was sent before. */
class StaticPolicy implements OnlinePolicy {
  readonly #orderOf: (request: ReplayRequest) => readonly number[]

  constructor(orderOf: (request: ReplayRequest) => readonly number[]) {
    this.#orderOf = orderOf
  }

  order(request: ReplayRequest): readonly number[] {
    return this.#orderOf(request)
  }

  sent(): void {}

  cut(): void {}

  pathOf(): readonly number[] {
    return []
  }
}
