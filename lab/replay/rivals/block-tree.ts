import type { BlockId } from '#index/context-block.ts'

/** Prefill cost of each block. */
type Sizes = ReadonlyMap<BlockId, number>

/** A node in a tree of sets: the blocks that everything below it shares and its parent lacks. A leaf is a request. */
export class BlockNode {
  blocks: Set<BlockId>
  parent: BlockNode | undefined
  readonly children: Set<BlockNode> = new Set()
  readonly request: number | undefined

  constructor(blocks: Iterable<BlockId>, request?: number) {
    this.blocks = new Set(blocks)
    this.request = request
  }

  adopt(child: BlockNode): void {
    child.parent?.children.delete(child)
    child.parent = this
    this.children.add(child)
  }

  /** Returns the blocks from the root to here. */
  path(): BlockId[] {
    return [...(this.parent?.path() ?? []), ...this.blocks]
  }

  sizeBelow(sizes: Sizes): number {
    let size = 0
    for (const block of this.blocks) size += sizes.get(block)!
    for (const child of this.children) size += child.sizeBelow(sizes)
    return size
  }
}

/** Moves a node with its subtree to where it shares most. */
export function regraft(root: BlockNode, node: BlockNode, sizes: Sizes): void {
  const content = new Set(node.path())
  const { parent } = node
  parent?.children.delete(node)
  node.parent = undefined
  const left = parent && prune(parent)
  const host = findHost(root, content, sizes)
  const shared = new Set(host.path())
  node.blocks = new Set([...content].filter((block) => !shared.has(block)))
  host.adopt(node)
  if (left) hoist(left)
}

/**
 * Finds the node that shares most of `content`. Splits it if it is a leaf or only some of its own blocks are shared.
 */
function findHost(root: BlockNode, content: ReadonlySet<BlockId>, sizes: Sizes): BlockNode {
  let best = root
  let most = 0
  const visit = (node: BlockNode, sizeBefore: number): void => {
    for (const child of node.children) {
      const shared = [...child.blocks].filter((block) => content.has(block))
      const size = shared.reduce((sum, block) => sum + sizes.get(block)!, sizeBefore)
      if (size > most) {
        best = child
        most = size
      }
      if (shared.length > 0 && shared.length === child.blocks.size) visit(child, size)
    }
  }
  visit(root, 0)
  const shared = [...best.blocks].filter((block) => content.has(block))
  if (!best.parent || (best.request === undefined && shared.length === best.blocks.size)) return best
  const front = new BlockNode(shared)
  best.parent.adopt(front)
  front.adopt(best)
  for (const block of shared) best.blocks.delete(block)
  return front
}

/** Removes a node with fewer than two children, and its ancestors if they become so. Returns the node left there. */
function prune(node: BlockNode): BlockNode | undefined {
  const { parent } = node
  if (!parent || node.children.size > 1) return node
  const [child] = node.children
  parent.children.delete(node)
  if (!child) return prune(parent)
  for (const block of node.blocks) child.blocks.add(block)
  parent.adopt(child)
  return child
}

/** Moves the blocks that all children of a node share into the node, repeatedly up to the root. */
function hoist(node: BlockNode): void {
  for (let at: BlockNode | undefined = node; at?.parent; at = at.parent) {
    const [first, ...others] = at.children
    if (others.length === 0) continue
    for (const block of [...first!.blocks]) {
      if (!others.every(({ blocks }) => blocks.has(block))) continue
      at.blocks.add(block)
      for (const child of at.children) child.blocks.delete(block)
    }
  }
}
