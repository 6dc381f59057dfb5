import type { BlockId, Context } from '../context-block.ts'
import { alignContext } from './align-context.ts'
import { type ContextCluster, mergeContexts } from './merge-contexts.ts'

/** One request of a batch; `sizes[i]` is the prefill cost of its block i, in any unit. */
export interface BatchedContext {
  readonly context: Context
  readonly sizes: readonly number[]
}

/** How to run one request of a batch. */
interface PlannedContext {
  /** index in the batch */
  readonly request: number
  /** positions in its context, in the order to send them */
  readonly order: readonly number[]
  /** requests of a group share blocks and run consecutively; groups are numbered in execution order */
  readonly group: number
  /** slots from the root of the plan's tree to the request */
  readonly searchPath: readonly number[]
}

interface PlanNode {
  readonly blocks: readonly number[]
  readonly children: PlanNode[]
  /** requests that end here */
  readonly requests: number[]
  /** number of requests at it and below */
  size: number
}

/**
 * Orders and schedules a whole batch (ContextPilot's offline mode, §7.1). It merges the contexts that share most
 * (merge-contexts.ts), sends every context along the tree of merges, and runs the tree depth first, so that what a
 * group shares is in use until its last request has run. In the returned order, every prefix shared in the tree is
 * computed once, even with a cache as small as the largest prompt.
 */
export function planContexts(batch: readonly BatchedContext[]): PlannedContext[] {
  const weights: number[] = []
  const numbers = new Map<BlockId, number>()
  const contexts = batch.map(({ context, sizes }) => {
    for (const [i, id] of context.entries()) if (!numbers.has(id)) numbers.set(id, weights.push(sizes[i]!) - 1)
    return [...new Set(context.map((id) => numbers.get(id)!))]
  })
  const ids = [...numbers.keys()]
  const root = buildTree(mergeContexts(contexts, weights))
  return runDepthFirst(root).map(({ request, prefix, group, searchPath }) => {
    const sent = prefix.map((number) => ids[number]!)
    return { request, order: alignContext(batch[request]!.context, sent), group, searchPath }
  })
}

/**
 * Builds a node for every cluster with the blocks that it adds to its parent's; a cluster that adds none gets no node.
 */
function buildTree(clusters: readonly ContextCluster[]): PlanNode {
  const root: PlanNode = { blocks: [], children: [], requests: [], size: 0 }
  const waiting = clusters.map((cluster) => ({ cluster, parent: root, inherited: new Set<number>() })).reverse()
  const nodes = [root]
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { cluster } = next
    let { parent, inherited } = next
    if (cluster.content.length > inherited.size) {
      const blocks = cluster.content.filter((block) => !inherited.has(block))
      const node: PlanNode = { blocks, children: [], requests: [], size: 0 }
      parent.children.push(node)
      nodes.push(node)
      parent = node
      inherited = new Set(cluster.content)
    }
    if (cluster.parts) {
      const [first, second] = cluster.parts
      waiting.push({ cluster: second, parent, inherited }, { cluster: first, parent, inherited })
    } else parent.requests.push(cluster.context)
  }
  // in reverse, because children come after their parents
  for (const node of nodes.reverse()) {
    node.size = node.children.reduce((sum, { size }) => sum + size, node.requests.length)
  }
  return root
}

type ScheduledRequest = Omit<PlannedContext, 'order'> & { readonly prefix: readonly number[] }

/** Returns the requests in the order to run them: depth first, with larger groups first, as in Algorithm 5. */
function runDepthFirst(root: PlanNode): ScheduledRequest[] {
  const scheduled: ScheduledRequest[] = []
  let group = -1
  const waiting: { node: PlanNode; prefix: readonly number[]; searchPath: readonly number[] }[] = []
  const descend = (node: PlanNode, prefix: readonly number[], searchPath: readonly number[]): void => {
    const children = node.children
      .map((child, slot) => ({ child, slot }))
      .sort((a, b) => a.child.size - b.child.size || b.slot - a.slot)
    for (const { child, slot } of children) {
      waiting.push({ node: child, prefix: [...prefix, ...child.blocks], searchPath: [...searchPath, slot] })
    }
  }
  for (const request of root.requests) scheduled.push({ request, prefix: [], group: ++group, searchPath: [] })
  descend(root, [], [])
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { node, prefix, searchPath } = next
    if (searchPath.length === 1) group += 1
    // blocks that nobody shares keep their ranking
    const shared = node.size > 1 ? prefix : prefix.slice(0, prefix.length - node.blocks.length)
    for (const request of node.requests) scheduled.push({ request, prefix: shared, group, searchPath })
    descend(node, prefix, searchPath)
  }
  return scheduled
}
