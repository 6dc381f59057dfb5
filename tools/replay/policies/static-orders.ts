import type { ReplayRequest } from '../replay-request.ts'

/** Returns the order as received: best first. */
export function rankOrder({ context }: ReplayRequest): number[] {
  return context.map((_, place) => place)
}

/** Sorts by id, so that equal sets of blocks give equal prompts: numbers first, then strings by code unit. */
export function sortedOrder({ trace, context }: ReplayRequest): number[] {
  const ids = trace.blocks.map(({ id }) => id)
  return context.map((_, place) => place).sort((a, b) => compareIds(ids[a]!, ids[b]!) || a - b)
}

function compareIds(a: string | number, b: string | number): number {
  if (typeof a === 'number') return typeof b === 'number' ? a - b : -1
  if (typeof b === 'number' || a > b) return 1
  return a < b ? -1 : 0
}
