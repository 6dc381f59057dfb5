import type { PromptContext } from '../prompt/body/prompt-context.ts'
import type { Layout } from '../prompt/layout.ts'

/**
 * Returns the orders that a request states for its lists: positions of blocks, counted across all lists of the request.
 * A list that they do not reach, or whose blocks they do not name once each, has none and is ordered like any other.
 */
export function statedOrders(
  { prompts }: Pick<Layout, 'prompts'>,
  stated: readonly number[] | undefined,
): ReadonlyMap<PromptContext, readonly number[]> {
  const orders = new Map<PromptContext, readonly number[]>()
  if (!stated) return orders
  let start = 0
  for (const context of prompts.flatMap(({ messages }) => messages.flatMap(({ contexts }) => contexts))) {
    const { length } = context.slots
    const order = stated.slice(start, start + length).map((position) => position - start)
    if (isPermutation(order, length)) orders.set(context, order)
    start += length
  }
  return orders
}

/** Whether an order names each of so many places once. */
export function isPermutation(order: readonly number[], length: number): boolean {
  return (
    order.length === length && new Set(order).size === length && order.every((place) => place >= 0 && place < length)
  )
}
