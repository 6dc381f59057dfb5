import type { BlockId, Context, RequestId } from '#index/context-block.ts'
import type { Ordering, OrderingIndex } from '#index/ordering/ordering-index.ts'

/** A block after the blocks on its path. */
interface TrieNode {
  readonly block: BlockId
  readonly size: number
  readonly parent: TrieNode | undefined
  readonly slot: number
  readonly children: Map<BlockId, TrieNode>
  nextSlot: number
  /** number of requests that pass through this node or end here */
  holders: number
}

/**
 * The obvious algorithm, for comparison: a trie of the cached block sequences. Of the sequences whose blocks are all in
 * the request, the one that saves most goes first. The other blocks follow by how many requests have had them.
 */
export class TrieOrdering implements OrderingIndex {
  readonly #root = createNode('' as BlockId, 0, undefined)
  readonly #ends = new Map<RequestId, TrieNode>()
  /** how many requests so far have had a block, whether or not they are still cached */
  readonly #popularity = new Map<BlockId, number>()
  nodes = 0

  get requests(): number {
    return this.#ends.size
  }

  order(context: Context, _sizes: readonly number[]): Ordering {
    const placesOf = new Map<BlockId, number[]>()
    for (const place of [...context.keys()].reverse()) {
      placesOf.set(context[place]!, [...(placesOf.get(context[place]!) ?? []), place])
    }
    const path = pathTo(findLargest(this.#root, 0, placesOf).node)
    const order = path.map(({ block }) => placesOf.get(block)!.pop()!)
    const popularity = context.map((block) => this.#popularity.get(block) ?? 0)
    const rest = [...placesOf.values()].flat().sort((a, b) => popularity[b]! - popularity[a]! || a - b)
    return { order: [...order, ...rest], searchPath: path.map(({ slot }) => slot) }
  }

  insert(context: Context, sizes: readonly number[], request: RequestId): void {
    const isNew = !this.remove(request)
    let node = this.#root
    for (const [at, block] of context.entries()) {
      node = node.children.get(block) ?? this.#extend(node, block, sizes[at]!)
      node.holders += 1
    }
    this.#ends.set(request, node)
    if (!isNew) return
    for (const block of new Set(context)) this.#popularity.set(block, (this.#popularity.get(block) ?? 0) + 1)
  }

  remove(request: RequestId): boolean {
    this.#leave(pathTo(this.#ends.get(request)))
    return this.#ends.delete(request)
  }

  pathOf(request: RequestId): number[] | undefined {
    const end = this.#ends.get(request)
    return end && pathTo(end).map(({ slot }) => slot)
  }

  #leave(path: readonly TrieNode[]): void {
    for (const node of path) {
      node.holders -= 1
      if (node.holders > 0) continue
      node.parent!.children.delete(node.block)
      this.nodes -= 1
    }
  }

  #extend(parent: TrieNode, block: BlockId, size: number): TrieNode {
    const node = createNode(block, size, parent)
    parent.children.set(block, node)
    this.nodes += 1
    return node
  }
}

/**
 * Returns the node with the largest prefix whose blocks all have positions left in the request; of equals the first.
 */
function findLargest(
  node: TrieNode,
  size: number,
  placesOf: ReadonlyMap<BlockId, number[]>,
): { node: TrieNode; size: number } {
  let largest = { node, size }
  for (const [block, places] of placesOf) {
    const child = node.children.get(block)
    const place = child && places.pop()
    if (place === undefined) continue
    const found = findLargest(child!, size + child!.size, placesOf)
    if (found.size > largest.size) largest = found
    places.push(place)
  }
  return largest
}

/** Returns the nodes from below the root to `node`. */
function pathTo(node: TrieNode | undefined): TrieNode[] {
  const path: TrieNode[] = []
  for (let at = node; at?.parent; at = at.parent) path.push(at)
  return path.reverse()
}

function createNode(block: BlockId, size: number, parent: TrieNode | undefined): TrieNode {
  const slot = parent ? parent.nextSlot++ : 0
  return { block, size, parent, slot, children: new Map(), nextSlot: 0, holders: 0 }
}
