import type { BlockId, Context } from '../context-block.ts'
import { firstPlaces } from './context-distance.ts'

/** Children that hold one block: slot, place of the block in that child, slot, place, … (one array, for its size). */
export type Posting = number[]

/**
 * A node of the context tree (ContextPilot §4.1): a leaf is a context as it was sent, every other node is virtual and
 * holds the prefix that it was made for.
 */
export interface ContextNode {
  readonly blocks: Context
  parent: ContextNode | undefined
  /** place among the parent's children; stays the same while the node lives, so search paths stay true */
  slot: number
  readonly children: Map<number, ContextNode>
  /** above every slot in use */
  nextSlot: number
  /** slots that are free again: with them taken first, there are never many more slots than children */
  readonly freeSlots: number[]
  /** the children that hold a block */
  readonly childrenByBlock: Map<BlockId, Posting>
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
    freeSlots: [],
    childrenByBlock: new Map(),
    frequency: 0,
    distance,
    requests: 0,
  }
}

/** Hangs `child` under `parent`, in a free slot. */
export function attach(parent: ContextNode, child: ContextNode): void {
  hang(parent, child, parent.freeSlots.pop() ?? parent.nextSlot++)
}

/** Takes `child` off its parent; what hangs below it stays below it. */
export function detach(child: ContextNode): void {
  const { parent, slot } = child
  if (!parent) return
  unhang(parent, child)
  parent.freeSlots.push(slot)
}

/** Puts `replacement` where `node` hung, under the same search path; `node` hangs nowhere afterwards. */
export function replace(node: ContextNode, replacement: ContextNode): void {
  const { parent, slot } = node
  if (!parent) return
  unhang(parent, node)
  hang(parent, replacement, slot)
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

function hang(parent: ContextNode, child: ContextNode, slot: number): void {
  child.parent = parent
  child.slot = slot
  parent.children.set(slot, child)
  for (const [block, place] of firstPlaces(child.blocks)) {
    const posting = parent.childrenByBlock.get(block)
    if (posting) posting.push(slot, place)
    else parent.childrenByBlock.set(block, [slot, place])
  }
}

function unhang(parent: ContextNode, child: ContextNode): void {
  parent.children.delete(child.slot)
  for (const block of new Set(child.blocks)) {
    const posting = parent.childrenByBlock.get(block)!
    if (posting.length === 2) {
      parent.childrenByBlock.delete(block)
      continue
    }
    let at = 0
    while (posting[at] !== child.slot) at += 2
    // the last takes its place: the order within a posting means nothing
    const [slot, place] = posting.splice(-2)
    if (at < posting.length) {
      posting[at] = slot!
      posting[at + 1] = place!
    }
  }
  child.parent = undefined
}
