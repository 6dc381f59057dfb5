import type { BlockId } from '#index/context-block.ts'
import { alignContext } from '#index/plan/align-context.ts'
import type { PlannedRequest } from '#tools/replay/policies/policy.ts'
import type { ReplayRequest } from '#tools/replay/replay-request.ts'

/** A request not placed yet, with the sizes of those of its blocks that are not in the prefix yet. */
interface OpenRequest {
  readonly request: ReplayRequest
  readonly left: Map<BlockId, number>
}

/**
 * The obvious algorithm, for comparison: takes the block that saves most, (requests with it − 1) × its tokens, and puts
 * it first in all requests with it. It partitions those recursively in the same way, then continues with the rest.
 */
export function planByGreedy(requests: readonly ReplayRequest[]): PlannedRequest[] {
  const planned: PlannedRequest[] = []
  let groups = 0
  const place = (group: readonly OpenRequest[], prefix: readonly BlockId[], searchPath: readonly number[]): void => {
    let slot = 0
    let others = group
    for (let block = findDearest(others); block !== undefined; block = findDearest(others)) {
      const shared = block
      const holders = others.filter(({ left }) => left.has(shared))
      others = others.filter(({ left }) => !left.has(shared))
      for (const { left } of holders) left.delete(shared)
      place(holders, [...prefix, shared], [...searchPath, slot++])
      if (prefix.length === 0) groups += 1
    }
    for (const { request } of others) {
      planned.push({ request, order: alignContext(request.context, prefix), group: groups, searchPath })
      if (prefix.length === 0) groups += 1
    }
  }
  place(requests.map(toOpenRequest), [], [])
  return planned
}

function toOpenRequest(request: ReplayRequest): OpenRequest {
  return { request, left: new Map(request.context.map((block, at) => [block, request.sizes[at]!])) }
}

/** Returns the shared block that saves most; of equals, the first. Returns undefined if none is shared. */
function findDearest(group: readonly OpenRequest[]): BlockId | undefined {
  const savings = new Map<BlockId, number>()
  let dearest: BlockId | undefined
  for (const { left } of group) {
    for (const [block, size] of left) {
      const saving = savings.get(block)
      savings.set(block, saving === undefined ? 0 : saving + size)
    }
  }
  let most = 0
  for (const [block, saving] of savings) {
    if (saving <= most) continue
    dearest = block
    most = saving
  }
  return dearest
}
