import type { Context } from '#index/context-block.ts'

/**
 * A node of the context tree (ContextPilot §4.1). A leaf is a context as it was sent. Every other node is virtual and
 * holds the prefix that it was created for.
 */
export class ContextNode {
  readonly blocks: Context
  parent: ContextNode | undefined
  /** its place among the parent's children; does not change while the node is attached, so search paths stay valid */
  slot = 0
  /** by slot, the lowest first */
  readonly children: Map<number, ContextNode> = new Map()
  /** how many live requests sent exactly this context; 0 for a virtual node */
  requests = 0
  #slots = 0

  constructor(blocks: Context) {
    this.blocks = blocks
  }

  /** The search path from the root: the slot at each level. */
  get path(): number[] {
    const path: number[] = []
    for (let at: ContextNode = this; at.parent; at = at.parent) path.push(at.slot)
    return path.reverse()
  }

  /** Attaches `child`, in a slot of its own. */
  attach(child: ContextNode, slot: number = this.#slots++): void {
    child.parent = this
    child.slot = slot
    this.children.set(slot, child)
  }

  /** Detaches this node and its subtree from its parent. */
  detach(): void {
    this.parent?.children.delete(this.slot)
    this.parent = undefined
  }

  /** Puts `replacement` in the place of this node, which it detaches. */
  replaceBy(replacement: ContextNode): void {
    this.parent?.attach(replacement, this.slot)
    this.parent = undefined
  }
}
