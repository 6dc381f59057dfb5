import type { Context } from '../context-block.ts'
import { distanceOf, firstPlaces } from './context-distance.ts'
import type { ContextNode, Posting } from './context-tree.ts'

/**
 * One step of the context search (ContextPilot, Algorithm 1, line 3): which child of a node is nearest to a context.
 * The context's blocks are looked up among the children's, and what they name is counted in flat arrays: a node can
 * have as many children as there are contexts. O(occurrences of the context's blocks among the children).
 */
export class NearestChild {
  readonly #alpha: number
  /** by slot: blocks shared with the context; all 0 between two searches */
  #shared = new Uint32Array(64)
  /** by slot: by how many places these are apart, in sum */
  #displaced = new Uint32Array(64)
  /** slots of the children that add to what their parent shares, the first `#found` of this array */
  #candidates = new Uint32Array(64)
  #found = 0

  constructor(alpha: number) {
    this.#alpha = alpha
  }

  /** The nearest of the children that share a block which their parent does not hold; of equals the first. */
  find(node: ContextNode, context: Context): ContextNode | undefined {
    this.#makeRoom(node.nextSlot)
    this.#count(node, context)
    if (this.#found === 0) return undefined
    const most = this.#mostShared()
    let nearest = this.#nearestOf(node, context, most)
    // who shares most is nearest, unless it is much longer than another: thousands share a block, few as many
    const fewest = (1 - nearest.distance) * context.length
    if (fewest <= most - 1) nearest = this.#nearestOf(node, context, fewest)
    for (let i = 0; i < this.#found; i++) this.#shared[this.#candidates[i]!] = 0
    return nearest.child
  }

  /** Counts what each child shares. */
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

  /** Counts one block; what the parent holds too makes no child a candidate. */
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

  /** The nearest of the candidates that share `fewest` blocks or more, of which there is one. */
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
