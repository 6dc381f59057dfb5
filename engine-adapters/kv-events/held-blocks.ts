import type { BlockName } from './block-naming.ts'
import { CopyCounts } from './copy-counts.ts'
import { deviceTier } from './kv-event.ts'

interface Node {
  readonly name: BlockName
  parent: Node | undefined
  /** its children, in a list that is linked through them */
  firstChild: Node | undefined
  before: Node | undefined
  next: Node | undefined
  /** blocks from the prompt's beginning up to this one; 0: not known */
  depth: number
  /** it is on the device, with all that stands in front of it */
  isReachable: boolean
  /** the moment at which it came to be reachable */
  since: number
  readonly copies: CopyCounts
}

/** Blocks that no prompt can be served from any more, since one in front of them has gone, or they have themselves. */
export interface LostBlocks {
  readonly names: readonly BlockName[]
  /** the last block that still can; undefined: none */
  readonly kept: BlockName | undefined
  /** how many blocks are kept */
  readonly keptBlocks: number
}

/**
 * The blocks that an engine holds, by tier and with every copy counted, and which of them a prompt can be served from:
 * those on the device with nothing missing in front. `onLost` hears of blocks that cease to be among these.
 */
export class HeldBlocks {
  readonly #nodes = new Map<BlockName, Node>()
  readonly #onLost: (lost: LostBlocks) => void
  #reachable = 0
  #moment = 0

  constructor(onLost: (lost: LostBlocks) => void = () => {}) {
    this.#onLost = onLost
  }

  /** How many blocks are known, and how many a prompt can be served from. */
  get counts(): { readonly known: number; readonly reachable: number } {
    return { known: this.#nodes.size, reachable: this.#reachable }
  }

  /** How many copies of a block a tier holds. */
  copiesOf(name: BlockName, tier: string): number {
    return this.#nodes.get(name)?.copies.of(tier) ?? 0
  }

  /** A moment from which on blocks are new, to be asked about by `countHeld`. */
  mark(): number {
    this.#moment += 1
    return this.#moment
  }

  /** How many of a prompt's blocks, from its beginning, it can be served from, and could be before a moment. */
  countHeld(names: readonly BlockName[], before: number = Number.POSITIVE_INFINITY): number {
    const missing = names.findIndex((name) => {
      const node = this.#nodes.get(name)
      return !node?.isReachable || node.since >= before
    })
    return missing === -1 ? names.length : missing
  }

  /** A tier holds one more copy of a block. `parent`: the block in front of it; undefined: it begins a prompt. */
  store(name: BlockName, parent: BlockName | undefined, tier: string): void {
    const node = this.#require(name)
    node.copies.add(tier)
    if (!node.parent && parent === undefined) node.depth = 1
    else if (!node.parent && node.depth === 0) this.#link(node, this.#require(parent!))
    if (tier === deviceTier && !node.isReachable) this.#reach(node)
  }

  /** A tier holds one copy less; returns whether no tier holds any. A copy that is not known changes nothing. */
  remove(name: BlockName, tier: string): boolean {
    const node = this.#nodes.get(name)
    if (!node) return true
    node.copies.drop(tier)
    if (tier === deviceTier && node.isReachable && node.copies.of(tier) === 0) this.#lose(node)
    const isGone = node.copies.isEmpty
    if (isGone) this.#tidy(node)
    return isGone
  }

  /** No tier holds anything. */
  clear(): void {
    this.#nodes.clear()
    this.#reachable = 0
  }

  /** The node of a block that is spoken of, held or not. */
  #require(name: BlockName): Node {
    const known = this.#nodes.get(name)
    if (known) return known
    const node: Node = {
      name,
      parent: undefined,
      firstChild: undefined,
      before: undefined,
      next: undefined,
      depth: 0,
      isReachable: false,
      since: 0,
      copies: new CopyCounts(),
    }
    this.#nodes.set(name, node)
    return node
  }

  #link(node: Node, parent: Node): void {
    node.parent = parent
    node.next = parent.firstChild
    if (node.next) node.next.before = node
    parent.firstChild = node
  }

  /** From here on as far as there is no gap. */
  #reach(from: Node): void {
    const stack = [from]
    for (let node = stack.pop(); node; node = stack.pop()) {
      const isRooted = node.parent ? node.parent.isReachable : node.depth === 1
      if (!isRooted || node.isReachable || node.copies.of(deviceTier) === 0) continue
      if (node.parent) node.depth = node.parent.depth + 1
      node.isReachable = true
      node.since = this.#moment
      this.#reachable += 1
      for (let child = node.firstChild; child; child = child.next) stack.push(child)
    }
  }

  #lose(from: Node): void {
    const names: BlockName[] = []
    const stack = [from]
    for (let node = stack.pop(); node; node = stack.pop()) {
      node.isReachable = false
      names.push(node.name)
      for (let child = node.firstChild; child; child = child.next) if (child.isReachable) stack.push(child)
    }
    this.#reachable -= names.length
    this.#onLost({ names, kept: from.parent?.name, keptBlocks: from.depth - 1 })
  }

  /** What holds nothing is kept only as long as something hangs on it. */
  #tidy(from: Node): void {
    let node: Node | undefined = from
    while (node && !node.firstChild && node.copies.isEmpty) {
      const parent: Node | undefined = node.parent
      if (node.before) node.before.next = node.next
      else if (parent) parent.firstChild = node.next
      if (node.next) node.next.before = node.before
      this.#nodes.delete(node.name)
      node = parent
    }
  }
}
