import type { Context } from '#index/context-block.ts'
import { distanceOf, firstPlaces } from './context-distance.ts'
import type { ContextNode, Posting } from './context-tree.ts'

/**
 * One step of the context search (ContextPilot, Algorithm 1, line 3): finds the child of a node nearest to a context.
 * It looks up the children with each of the context's blocks and counts them in flat arrays, because a node can have as
 * many children as there are contexts. O(occurrences of the context's blocks among the children).
 */
export class NearestChild {
  readonly #alpha: number
  /** by slot: number of blocks shared with the context; all 0 between searches */
  #shared = new Uint32Array(64)
  /** by slot: sum of the displacements of these blocks */
  #displaced = new Uint32Array(64)
  /** slots of the children that share more than their parent; only the first `#found` entries are valid */
  #candidates = new Uint32Array(64)
  #found = 0

  constructor(alpha: number) {
    this.#alpha = alpha
  }

  /** Returns the nearest of the children that share a block which their parent does not have; of equals the first. */
  find(node: ContextNode, context: Context): ContextNode | undefined {
    this.#makeRoom(node.nextSlot)
    this.#count(node, context)
    if (this.#found === 0) return undefined
    const most = this.#mostShared()
    let nearest = this.#nearestOf(node, context, most)
    // the child that shares most is nearest, unless it is much longer than another; few of thousands share that many
    const fewest = (1 - nearest.distance) * context.length
    if (fewest <= most - 1) nearest = this.#nearestOf(node, context, fewest)
    for (let i = 0; i < this.#found; i++) this.#shared[this.#candidates[i]!] = 0
    return nearest.child
  }

  /** Counts the blocks that each child shares. */
  #count(node: ContextNode, context: Context): void {
    this.#found = 0
    const held = new Set(node.blocks)
    const inherited: [Posting, number][] = []
    for (const [block, place] of firstPlaces(context)) {
      const posting = node.childrenByBlock.get(block)
      if (!posting) continue
      if (held.has(block)) inherited.push([posting, place])
      else this.#countBlock(posting, place, true)
    }
    for (const [posting, place] of inherited) this.#countBlock(posting, place, false)
  }

  /** Counts one block. With `adds` false, as for a block the parent has too, it makes no child a candidate. */
  #countBlock(posting: Posting, place: number, adds: boolean): void {
    const [shared, displaced] = [this.#shared, this.#displaced]
    for (let i = 0; i < posting.length; i += 2) {
      const slot = posting[i]!
      const apart = Math.abs(posting[i + 1]! - place)
      if (shared[slot]! > 0) {
        shared[slot]! += 1
        displaced[slot]! += apart
      } else if (adds) {
        shared[slot] = 1
        displaced[slot] = apart
        this.#candidates[this.#found++] = slot
      }
    }
  }

  #mostShared(): number {
    let most = 0
    for (let i = 0; i < this.#found; i++) most = Math.max(most, this.#shared[this.#candidates[i]!]!)
    return most
  }

  /** Returns the nearest of the candidates that share at least `fewest` blocks. There must be one. */
  #nearestOf(node: ContextNode, context: Context, fewest: number): { child: ContextNode; distance: number } {
    let nearest: ContextNode | undefined
    let least = Number.POSITIVE_INFINITY
    for (let i = 0; i < this.#found; i++) {
      const slot = this.#candidates[i]!
      const shared = this.#shared[slot]!
      if (shared < fewest) continue
      const child = node.children.get(slot)!
      const longest = Math.max(context.length, child.blocks.length)
      const distance = distanceOf(shared, this.#displaced[slot]!, longest, this.#alpha)
      if (distance < least || (distance === least && slot < nearest!.slot)) {
        nearest = child
        least = distance
      }
    }
    return { child: nearest!, distance: least }
  }

  #makeRoom(slots: number): void {
    if (slots <= this.#shared.length) return
    this.#shared = new Uint32Array(2 * slots)
    this.#displaced = new Uint32Array(2 * slots)
    this.#candidates = new Uint32Array(2 * slots)
  }
}
