import { getOrMake } from '#index/get-or-make.ts'
import type { BlockName } from './block-naming.ts'

class Node {
  readonly name: BlockName
  parent: Node | undefined
  /** its children, as a list linked through `before` and `next` */
  firstChild: Node | undefined
  before: Node | undefined
  next: Node | undefined
  /** blocks from the prompt's beginning up to this one; 0: unknown */
  depth = 0
  /** whether it and all blocks before it are held, here or elsewhere */
  isReachable = false
  /** the moment at which its first copy came */
  since = 0
  /** how often it is on the device: engines keep what two requests compute at once twice */
  copies = 0

  constructor(name: BlockName) {
    this.name = name
  }
}

/** Blocks that can no longer serve a prompt, because they or a block before them were removed. */
export interface LostBlocks {
  readonly names: readonly BlockName[]
  /** the last block that still can; undefined: none */
  readonly kept: BlockName | undefined
  /** how many blocks are kept */
  readonly keptBlocks: number
}

/**
 * The blocks that an engine holds on its device, with the number of copies, and which of them can serve a prompt: those
 * with no block missing before them. What is on the device no longer, but elsewhere, is not missing. Calls `onLost` for
 * blocks that can no longer serve a prompt.
 */
export class HeldBlocks {
  readonly #nodes = new Map<BlockName, Node>()
  readonly #onLost: (lost: LostBlocks) => void
  readonly #isElsewhere: (name: BlockName) => boolean
  /** the one that has begun last */
  moment = 0

  constructor(onLost: (lost: LostBlocks) => void = () => {}, isElsewhere: (name: BlockName) => boolean = () => false) {
    this.#onLost = onLost
    this.#isElsewhere = isElsewhere
  }

  /** The number of known blocks. */
  get size(): number {
    return this.#nodes.size
  }

  /** Begins a new moment and returns it: `countHeld` can ignore blocks that come from now on. */
  mark(): number {
    this.moment += 1
    return this.moment
  }

  /** How many leading blocks of a prompt the device has; counts only blocks that came before the moment `before`. */
  countHeld(names: readonly BlockName[], before: number = Number.POSITIVE_INFINITY): number {
    return this.#countLeading(names, (node) => node.copies > 0 && node.since < before)
  }

  /** How many leading blocks of a prompt can serve it, from the device or elsewhere. */
  countKept(names: readonly BlockName[]): number {
    return this.#countLeading(names, () => true)
  }

  /** Whether there is a copy of a block. */
  has(name: BlockName): boolean {
    return (this.#nodes.get(name)?.copies ?? 0) > 0
  }

  /** Adds a copy of a block. `parent`: the block before it; undefined: it begins a prompt. */
  store(name: BlockName, parent: BlockName | undefined): void {
    const node = this.#require(name)
    if (node.copies === 0) node.since = this.moment
    node.copies += 1
    if (!node.parent && parent === undefined) node.depth = 1
    else if (!node.parent && node.depth === 0) this.#link(node, this.#require(parent!))
    if (!node.isReachable) this.#reach(node)
  }

  /** Removes a copy; returns whether none is left. Ignores an unknown block. */
  remove(name: BlockName): boolean {
    const node = this.#nodes.get(name)
    if (!node) return true
    if (node.copies > 0) node.copies -= 1
    if (node.copies > 0) return false
    this.#review(node)
    return true
  }

  /** A block has come or gone elsewhere. */
  changedElsewhere(name: BlockName): void {
    const node = this.#nodes.get(name)
    if (node) this.#review(node)
  }

  /** Makes a node reachable or lost, as its copies here and elsewhere now are. */
  #review(node: Node): void {
    const isHeld = this.#isHeld(node)
    if (isHeld && !node.isReachable) this.#reach(node)
    else if (!isHeld && node.isReachable) this.#lose(node)
    this.#tidy(node)
  }

  clear(): void {
    this.#nodes.clear()
  }

  #isHeld({ copies, name }: Node): boolean {
    return copies > 0 || this.#isElsewhere(name)
  }

  #countLeading(names: readonly BlockName[], counts: (node: Node) => boolean): number {
    const missing = names.findIndex((name) => {
      const node = this.#nodes.get(name)
      return !node?.isReachable || !counts(node)
    })
    return missing === -1 ? names.length : missing
  }

  #require(name: BlockName): Node {
    return getOrMake(this.#nodes, name, () => new Node(name))
  }

  #link(node: Node, parent: Node): void {
    node.parent = parent
    node.next = parent.firstChild
    if (node.next) node.next.before = node
    parent.firstChild = node
  }

  #reach(from: Node): void {
    const stack = [from]
    for (let node = stack.pop(); node; node = stack.pop()) {
      const isRooted = node.parent ? node.parent.isReachable : node.depth === 1
      if (!isRooted || node.isReachable || !this.#isHeld(node)) continue
      if (node.parent) node.depth = node.parent.depth + 1
      node.isReachable = true
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
    this.#onLost({ names, kept: from.parent?.name, keptBlocks: from.depth - 1 })
  }

  /** Removes a node that is not held and has no children, then its ancestors to which this applies as well. */
  #tidy(from: Node): void {
    let node: Node | undefined = from
    while (node && !node.firstChild && !this.#isHeld(node)) {
      const parent: Node | undefined = node.parent
      if (node.before) node.before.next = node.next
      else if (parent) parent.firstChild = node.next
      if (node.next) node.next.before = node.before
      this.#nodes.delete(node.name)
      node = parent
    }
  }
}
