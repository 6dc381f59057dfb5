import type { Context } from '#index/context-block.ts'

/**
 * A node of the context tree (ContextPilot §4.1). A leaf is a context as it was sent. Every other node is virtual and
 * holds the prefix that it was created for.
 */
export interface ContextNode {
  readonly blocks: Context
  parent: ContextNode | undefined
  /** slot among the parent's children; does not change while the node is attached, so search paths stay valid */
  slot: number
  readonly children: Map<number, ContextNode>
  /** greater than every slot in use */
  nextSlot: number
  /** freed slots, reused first so that the number of slots stays close to the number of children */
  readonly freeSlots: number[]
  /** how many live requests sent exactly this context; 0 for a virtual node */
  requests: number
}

/** Creates a detached node. */
export function createNode(blocks: Context): ContextNode {
  return {
    blocks,
    parent: undefined,
    slot: 0,
    children: new Map(),
    nextSlot: 0,
    freeSlots: [],
    requests: 0,
  }
}

/** Attaches `child` to `parent`, in a free slot. */
export function attach(parent: ContextNode, child: ContextNode): void {
  hang(parent, child, parent.freeSlots.pop() ?? parent.nextSlot++)
}

/** Detaches `child` and its subtree from its parent. */
export function detach(child: ContextNode): void {
  const { parent, slot } = child
  if (!parent) return
  parent.children.delete(slot)
  child.parent = undefined
  parent.freeSlots.push(slot)
}

/** Replaces `node` by `replacement` under the same search path and detaches `node`. */
export function replace(node: ContextNode, replacement: ContextNode): void {
  const { parent, slot } = node
  if (!parent) return
  node.parent = undefined
  hang(parent, replacement, slot)
}

/** Returns the search path from the root: the slot at each level. */
export function searchPath(node: ContextNode): number[] {
  const path: number[] = []
  for (let at = node; at.parent; at = at.parent) path.push(at.slot)
  return path.reverse()
}

function hang(parent: ContextNode, child: ContextNode, slot: number): void {
  child.parent = parent
  child.slot = slot
  parent.children.set(slot, child)
}
