import { alignContext } from './align-context.ts'
import type { BlockId, Context, RequestId } from './context-block.ts'
import type { Ordering, OrderingIndex } from './ordering-index.ts'
import { createPrefixTree, insertSequence, type PrefixNode, pathOfSequence, removeSequence } from './prefix-tree.ts'

/** Search ends after this many nodes, with the best found so far: hot blocks in many orders must not stall a request. */
const mostVisits = 4_096

/** A prefix of what was sent: all of the path to a node, but only the first blocks of the node's own edge. */
interface FoundPrefix {
  readonly node: PrefixNode
  readonly edgeLength: number
  readonly size: number
}

/**
 * Ordering by the prefixes that were really sent. The paper's search compares sets and goes greedily from child to
 * child; an engine reuses only what stands first, in the very same order. So: of all prefixes held whose blocks are
 * all in the context, the one that saves most to prefill goes first; the blocks that remain follow by what they
 * promise to save, requests that hold them × size, so that later requests find them in front; where that is equal
 * (nobody holds them) they stay in rank order.
 */
export class PrefixOrdering implements OrderingIndex {
  readonly #root = createPrefixTree()
  readonly #sent = new Map<RequestId, Context>()
  readonly #holders = new Map<BlockId, number>()
  #nodes = 0

  get nodes(): number {
    return this.#nodes
  }

  get requests(): number {
    return this.#sent.size
  }

  /** O(visits + n log n) for n blocks; visits are the nodes whose paths are all in the context, 4,096 at most. */
  order(context: Context, sizes: readonly number[]): Ordering {
    const found = this.#largestPrefix(context)
    const prefix = blocksOf(found)
    const aligned = alignContext(context, prefix)
    const promise = (place: number): number => (this.#holders.get(context[place]!) ?? 0) * sizes[place]!
    const rest = aligned.slice(prefix.length).sort((a, b) => promise(b) - promise(a) || a - b)
    const order = [...aligned.slice(0, prefix.length), ...rest]
    return { order, searchPath: slotsOf(pathTo(found.node)) }
  }

  insert(context: Context, sizes: readonly number[], request: RequestId): void {
    this.remove(request)
    this.#sent.set(request, context)
    this.#nodes += insertSequence(this.#root, context, sizes)
    for (const block of new Set(context)) this.#holders.set(block, (this.#holders.get(block) ?? 0) + 1)
  }

  remove(request: RequestId): boolean {
    const context = this.#sent.get(request)
    if (!context) return false
    this.#sent.delete(request)
    this.#nodes -= removeSequence(this.#root, context)
    for (const block of new Set(context)) {
      const holders = this.#holders.get(block)! - 1
      if (holders === 0) this.#holders.delete(block)
      else this.#holders.set(block, holders)
    }
    return true
  }

  pathOf(request: RequestId): number[] | undefined {
    const context = this.#sent.get(request)
    return context && slotsOf(pathOfSequence(this.#root, context))
  }

  /** Depth first; of prefixes that save the same, the one found first. */
  #largestPrefix(context: Context): FoundPrefix {
    const unused = new Map<BlockId, number>()
    for (const block of context) unused.set(block, (unused.get(block) ?? 0) + 1)
    let largest: FoundPrefix = { node: this.#root, edgeLength: 0, size: 0 }
    let visits = 0
    const visit = (node: PrefixNode, sizeBefore: number): void => {
      visits += 1
      const edgeLength = take(unused, node.edge)
      let size = sizeBefore
      for (let i = 0; i < edgeLength; i++) size += node.sizes[i]!
      if (size > largest.size) largest = { node, edgeLength, size }
      if (edgeLength === node.edge.length)
        for (const child of nextNodes(node, unused)) if (visits < mostVisits) visit(child, size)
      giveBack(unused, node.edge, edgeLength)
    }
    visit(this.#root, 0)
    return largest
  }
}

/** Uses up the blocks of an edge as far as they are to be had; returns how far. */
function take(unused: Map<BlockId, number>, edge: Context): number {
  for (let i = 0; i < edge.length; i++) {
    const count = unused.get(edge[i]!) ?? 0
    if (count === 0) return i
    unused.set(edge[i]!, count - 1)
  }
  return edge.length
}

function giveBack(unused: Map<BlockId, number>, edge: Context, length: number): void {
  for (let i = 0; i < length; i++) unused.set(edge[i]!, unused.get(edge[i]!)! + 1)
}

/** The children that begin with a block that is left, oldest first whichever side is asked: the smaller one. */
function nextNodes(node: PrefixNode, unused: ReadonlyMap<BlockId, number>): PrefixNode[] {
  const next: PrefixNode[] = []
  if (node.children.size < unused.size) {
    for (const child of node.children.values()) if (unused.get(child.edge[0]!)) next.push(child)
  } else {
    for (const [block, count] of unused) {
      const child = count > 0 ? node.children.get(block) : undefined
      if (child) next.push(child)
    }
  }
  return next.sort((a, b) => a.slot - b.slot)
}

function pathTo(node: PrefixNode): PrefixNode[] {
  const path: PrefixNode[] = []
  for (let at = node; at.parent; at = at.parent) path.push(at)
  return path.reverse()
}

function blocksOf({ node, edgeLength }: FoundPrefix): BlockId[] {
  const path = pathTo(node)
  return [...path.slice(0, -1).flatMap(({ edge }) => edge), ...node.edge.slice(0, edgeLength)]
}

function slotsOf(path: readonly PrefixNode[]): number[] {
  return path.map(({ slot }) => slot)
}
