import type { Context } from '#index/context-block.ts'
import { getOrMake } from '#index/get-or-make.ts'
import type { OrderingIndex } from '#index/ordering/ordering-index.ts'
import { PrefixOrdering } from '#index/ordering/prefix-ordering.ts'
import { ContextIndex } from '../paper/context-index.ts'
import { isAsReceived, type ReplayRequest, toRequestId } from '../replay-request.ts'
import { type OnlinePolicy, type OrderingName, rankOrder, sortedOrder } from './policy.ts'

/** Creates a policy without any history. Every run needs its own. */
export const createOnlinePolicy: Readonly<Record<OrderingName, () => OnlinePolicy>> = {
  rank: () => alone(rankOrder),
  sorted: () => alone(sortedOrder),
  paper: () => new IndexPolicy(() => new ContextIndex()),
  reprise: () => new IndexPolicy(() => new PrefixOrdering()),
}

/** Orders every request by itself, whatever was sent before. */
function alone(order: OnlinePolicy['order']): OnlinePolicy {
  return { order, sent: () => {}, cut: () => {} }
}

/** What the index holds of a request. */
interface Held {
  readonly context: Context
  readonly sizes: readonly number[]
}

/** Orders requests by indexes of what the cache holds, one index for each text before the blocks. */
export class IndexPolicy implements OnlinePolicy {
  readonly #createIndex: () => OrderingIndex
  readonly #indexes = new Map<string, OrderingIndex>()
  readonly #held = new Map<number, Held>()

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

  sent(request: ReplayRequest, order: readonly number[]): void {
    const { sizes } = request
    const context = isAsReceived(order) ? request.context : request.shortened
    this.#hold(request, { context: order.map((place) => context[place]!), sizes: order.map((place) => sizes[place]!) })
  }

  cut(request: ReplayRequest, keptBlocks: number): void {
    const held = this.#held.get(request.number)
    if (!held || keptBlocks >= held.context.length) return
    this.#hold(request, { context: held.context.slice(0, keptBlocks), sizes: held.sizes.slice(0, keptBlocks) })
  }

  #hold({ scope, number }: ReplayRequest, held: Held): void {
    const index = this.#indexOf(scope)
    if (held.context.length > 0) {
      index.insert(held.context, held.sizes, toRequestId(number))
      this.#held.set(number, held)
    } else if (this.#held.delete(number)) index.remove(toRequestId(number))
  }

  #indexOf(scope: string): OrderingIndex {
    return getOrMake(this.#indexes, scope, this.#createIndex)
  }
}
