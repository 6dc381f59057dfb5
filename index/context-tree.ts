import type { BlockId, Context } from './context-block.ts'

/**
 * A node of the context tree (ContextPilot §4.1): a leaf is a context as it was sent, every other node is virtual
 * and holds the prefix that its children share.
 */
export interface ContextNode {
  readonly blocks: Context
  parent: ContextNode | undefined
  /** place among the parent's children; stays the same while the node lives, so search paths stay true */
  slot: number
  readonly children: Map<number, ContextNode>
  nextSlot: number
  /** children by the blocks they add to this node's: where a search can descend */
  readonly childrenByBlock: Map<BlockId, ContextNode[]>
  /** how many contexts ended at this node or passed through it */
  frequency: number
  /** distance at which the node was created: 0 for a leaf */
  readonly distance: number
  /** how many live requests sent exactly this context; 0 for a virtual node */
  requests: number
}

/** Creates a node that hangs nowhere yet. */
export function createNode(blocks: Context, distance = 0): ContextNode {
  return {
    blocks,
    parent: undefined,
    slot: 0,
    children: new Map(),
    nextSlot: 0,
    childrenByBlock: new Map(),
    frequency: 0,
    distance,
    requests: 0,
  }
}

/** Hangs `child` under `parent`, in `slot` or in the next free one. */
export function attach(parent: ContextNode, child: ContextNode, slot: number = parent.nextSlot): void {
  child.parent = parent
  child.slot = slot
  parent.children.set(slot, child)
  parent.nextSlot = Math.max(parent.nextSlot, slot + 1)
  for (const block of addedBlocks(parent, child)) {
    const owners = parent.childrenByBlock.get(block)
    if (owners) owners.push(child)
    else parent.childrenByBlock.set(block, [child])
  }
}

/** Takes `child` off its parent; what hangs below it stays below it. */
export function detach(child: ContextNode): void {
  const parent = child.parent
  if (!parent) return
  parent.children.delete(child.slot)
  for (const block of addedBlocks(parent, child)) {
    const owners = parent.childrenByBlock.get(block)?.filter((owner) => owner !== child)
    if (owners?.length) parent.childrenByBlock.set(block, owners)
    else parent.childrenByBlock.delete(block)
  }
  child.parent = undefined
}

/** Puts `replacement` where `node` hung, under the same search path; `node` hangs nowhere afterwards. */
export function replace(node: ContextNode, replacement: ContextNode): void {
  const { parent, slot } = node
  if (!parent) return
  detach(node)
  attach(parent, replacement, slot)
}

/** The search path from the root: the slot at each level. */
export function searchPath(node: ContextNode): number[] {
  const path: number[] = []
  for (let at = node; at.parent; at = at.parent) path.push(at.slot)
  return path.reverse()
}

/** Traversal (ContextPilot §4.2): the node at the end of a search path, O(h). */
export function nodeAt(root: ContextNode, path: readonly number[]): ContextNode | undefined {
  let node: ContextNode | undefined = root
  for (const slot of path) node = node?.children.get(slot)
  return node
}

/** What a child adds to its parent's blocks, each once. */
function addedBlocks(parent: ContextNode, child: ContextNode): Set<BlockId> {
  const added = new Set(child.blocks)
  for (const block of parent.blocks) added.delete(block)
  return added
}
