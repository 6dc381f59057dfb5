import { LeafHeap } from './leaf-heap.ts'
import type { NodeHotness } from './node-hotness.ts'
import type { TreeNode } from './tree-node.ts'

interface HostTierOptions {
  readonly capacityTokens: number
  readonly hotness: NodeHotness
  /** whether the tier has to record uses in `hotness`, because nobody else does */
  readonly counts: boolean
  /** minimum number of requests for admission; 0 admits everything */
  readonly leastFrequency: number
  /** tokens that can be promoted while the requests just served are decoded; 0: no promotion */
  readonly promotedTokens: number
}

/** The part of the device cache that promotion needs. */
interface Device {
  readonly freeTokens: number
  /** Moves a node from the host to the device. */
  promote(node: TreeNode): void
  /** Evicts a leaf without moving it to the host. */
  discard(leaf: TreeNode): void
}

/** Tokens moved between the device and the host, and tokens found on the host. */
export interface HostFigures {
  found: number
  offloaded: number
  loaded: number
  promoted: number
}

/** Returns the difference between two states of the figures. */
export function movedSince(before: Partial<HostFigures>, now: HostFigures | undefined): HostFigures {
  const of = (name: keyof HostFigures): number => (now?.[name] ?? 0) - (before[name] ?? 0)
  return { found: of('found'), offloaded: of('offloaded'), loaded: of('loaded'), promoted: of('promoted') }
}

/** Promotion stops after skipping this many nodes that cannot be promoted now. */
const mostSkipped = 16

/** Host memory behind a device: selective admission (HotPrefix §3.3.2) and promotion (Algorithm 2). */
export class HostTier {
  readonly #options: HostTierOptions
  readonly figures: HostFigures = { found: 0, offloaded: 0, loaded: 0, promoted: 0 }
  /** leaves on the host, coldest first */
  readonly #leaves = new LeafHeap<TreeNode>()
  /** all nodes on the host, hottest first */
  readonly #nodes = new LeafHeap<TreeNode>()
  /** leaves of the device, coldest first */
  readonly #device = new LeafHeap<TreeNode>()
  #usedTokens = 0
  #age = 0
  /** removes a node that the host drops */
  drop: (node: TreeNode) => void = () => undefined

  constructor(options: HostTierOptions) {
    this.#options = options
  }

  get usedTokens(): number {
    return this.#usedTokens
  }

  /** Returns whether to admit a leaf of the device, after making room for it. */
  admits(node: TreeNode): boolean {
    const tokens = node.tokens.length
    const { hotness, leastFrequency, capacityTokens } = this.#options
    if (tokens > capacityTokens || hotness.frequencyOf(node) < leastFrequency) return false
    const own = hotness.hotnessOf(node)
    while (this.#usedTokens + tokens > capacityTokens) {
      const coldest = this.#leaves.min
      // without a threshold everything is admitted and replaces the coldest leaves
      if (!coldest || isBehind(coldest, node)) return false
      if (leastFrequency > 0 && hotness.hotnessOf(coldest) >= own) return false
      this.drop(coldest)
    }
    return true
  }

  admit(node: TreeNode): void {
    this.#usedTokens += node.tokens.length
    this.figures.offloaded += node.tokens.length
    this.#put(node)
  }

  /** Removes a node that leaves the host or is needed by the running request. */
  take(node: TreeNode): void {
    if (!this.#nodes.has(node)) return
    this.#usedTokens -= node.tokens.length
    this.#nodes.remove(node)
    this.#leaves.remove(node)
  }

  /** A node on the host has no children any more. */
  offer(node: TreeNode): void {
    if (this.#nodes.has(node)) this.#leaves.put(node, this.#options.hotness.hotnessOf(node), node.lastUse)
  }

  use(node: TreeNode): void {
    if (this.#options.counts) this.#options.hotness.use(node)
  }

  split(front: TreeNode, tail: TreeNode): void {
    if (this.#options.counts) this.#options.hotness.split(front, tail)
    if (!this.#nodes.has(tail)) return
    this.#put(front)
    this.#put(tail)
  }

  offerDevice(node: TreeNode): void {
    if (this.#options.promotedTokens > 0) this.#device.put(node, this.#options.hotness.hotnessOf(node), node.lastUse)
  }

  withdrawDevice(node: TreeNode): void {
    this.#device.remove(node)
  }

  /** A prompt found `cached` tokens on the device. The rest up to `end` was found on the host and has been loaded. */
  found(cached: number, end: number): void {
    this.figures.found += Math.max(0, end - cached)
    this.figures.loaded += Math.max(0, end - cached)
  }

  passRequest(device: Device): void {
    const { hotness, counts } = this.#options
    if (counts) hotness.passRequest()
    if (hotness.age !== this.#age) {
      this.#age = hotness.age
      this.#leaves.rekey((node) => hotness.hotnessOf(node))
      this.#nodes.rekey((node) => -hotness.hotnessOf(node))
      this.#device.rekey((node) => hotness.hotnessOf(node))
    }
    this.#promote(device)
  }

  /** Algorithm 2: the hottest host nodes whose parents are on the device replace the device's coldest leaves. */
  #promote(device: Device): void {
    let budget = this.#options.promotedTokens
    const skipped: TreeNode[] = []
    while (budget > 0 && skipped.length < mostSkipped) {
      const node = this.#nodes.min
      if (!node) break
      const size = node.tokens.length
      if (!node.parent!.isOnHost && size <= budget && this.#makeRoom(device, node)) {
        device.promote(node)
        budget -= size
        this.figures.promoted += size
      } else {
        // the node, or its parent, may be promoted in a later batch; it may be dropped before that
        this.#nodes.put(node, Number.POSITIVE_INFINITY, 0)
        skipped.push(node)
      }
    }
    for (const node of skipped) if (this.#nodes.has(node)) this.#put(node)
  }

  /** Makes room for a node by evicting colder leaves other than its parent. If that is not enough, evicts none. */
  #makeRoom(device: Device, node: TreeNode): boolean {
    const { hotness } = this.#options
    const own = hotness.hotnessOf(node)
    const plan: TreeNode[] = []
    let free = device.freeTokens
    while (free < node.tokens.length) {
      const coldest = this.#device.min
      if (!coldest || coldest === node.parent || hotness.hotnessOf(coldest) >= own) break
      this.#device.remove(coldest)
      plan.push(coldest)
      free += coldest.tokens.length
    }
    if (free >= node.tokens.length) for (const leaf of plan) device.discard(leaf)
    else for (const leaf of plan) this.offerDevice(leaf)
    return free >= node.tokens.length
  }

  #put(node: TreeNode): void {
    const { hotness } = this.#options
    this.#nodes.put(node, -hotness.hotnessOf(node), node.lastUse)
    if (node.isLeaf) this.#leaves.put(node, hotness.hotnessOf(node), node.lastUse)
    else this.#leaves.remove(node)
  }
}

/** Returns whether `node` is `other` or a descendant of it. */
function isBehind(node: TreeNode, other: TreeNode): boolean {
  for (let at: TreeNode | undefined = node; at; at = at.parent) if (at === other) return true
  return false
}
