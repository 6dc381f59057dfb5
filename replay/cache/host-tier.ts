import { LeafHeap } from '#index/hotness/leaf-heap.ts'
import type { NodeHotness } from './node-hotness.ts'
import type { TreeNode } from './tree-node.ts'

export interface HostTierOptions {
  readonly capacityTokens: number
  readonly hotness: NodeHotness
  /** whether nobody else tells `hotness` what is used */
  readonly counts: boolean
  /** what was asked for less often is not kept; 0 admits all */
  readonly leastFrequency: number
  /** tokens that can be moved up while the requests just served are decoded; 0: no promotion */
  readonly promotedTokens: number
}

/** What promotion needs of the cache on the device. */
export interface Device {
  readonly freeTokens: number
  /** A node comes up from the host. */
  promote(node: TreeNode): void
  /** A leaf goes, and not to the host. */
  discard(leaf: TreeNode): void
}

/** What has been moved between the device and the host, and what was found on it, in tokens. */
export interface HostFigures {
  found: number
  offloaded: number
  loaded: number
  promoted: number
}

/** What has been moved since figures were as they were. */
export function movedSince(before: Partial<HostFigures>, now: HostFigures | undefined): HostFigures {
  const of = (name: keyof HostFigures): number => (now?.[name] ?? 0) - (before[name] ?? 0)
  return { found: of('found'), offloaded: of('offloaded'), loaded: of('loaded'), promoted: of('promoted') }
}

/** So many nodes are looked at that cannot be promoted before their parents. */
const mostSkipped = 16

/** Host memory behind a device: selective admission (HotPrefix §3.3.2) and promotion (Algorithm 2). */
export class HostTier {
  readonly #options: HostTierOptions
  readonly figures: HostFigures = { found: 0, offloaded: 0, loaded: 0, promoted: 0 }
  /** what nothing hangs on, coldest first */
  readonly #leaves = new LeafHeap<TreeNode>()
  /** all that is on the host, hottest first */
  readonly #nodes = new LeafHeap<TreeNode>()
  /** leaves of the device, coldest first */
  readonly #device = new LeafHeap<TreeNode>()
  #usedTokens = 0
  #age = 0
  /** drops what the host gives up */
  drop: (node: TreeNode) => void = () => undefined

  constructor(options: HostTierOptions) {
    this.#options = options
  }

  get usedTokens(): number {
    return this.#usedTokens
  }

  /** Whether a leaf of the device is to come here; there is room for it then. */
  admits(node: TreeNode): boolean {
    const tokens = node.tokens.length
    const { hotness, leastFrequency, capacityTokens } = this.#options
    if (tokens > capacityTokens || hotness.frequencyOf(node) < leastFrequency) return false
    const own = hotness.hotnessOf(node)
    while (this.#usedTokens + tokens > capacityTokens) {
      const coldest = this.#leaves.min
      // without a threshold everything comes in, in the place of what is coldest
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

  /** A node leaves the host, or is needed by the request that is served. */
  take(node: TreeNode): void {
    if (!this.#nodes.has(node)) return
    this.#usedTokens -= node.tokens.length
    this.#nodes.remove(node)
    this.#leaves.remove(node)
  }

  /** A node of the host has nothing hanging on it any more. */
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

  /** A prompt found `cached` tokens on the device, and what follows up to `end` here: that has been loaded. */
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

  /** Algorithm 2: the hottest nodes here behind nodes of the device take the place of its coldest leaves. */
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
        // its own promotion, or that of its parent, comes with a later batch; it may be dropped before
        this.#nodes.put(node, Number.POSITIVE_INFINITY, 0)
        skipped.push(node)
      }
    }
    for (const node of skipped) if (this.#nodes.has(node)) this.#put(node)
  }

  /** Whether leaves that are colder than a node make room for it: all of them go, or none. Its parent stays. */
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

/** Whether a node is the other one or stands behind it. */
function isBehind(node: TreeNode, other: TreeNode): boolean {
  for (let at: TreeNode | undefined = node; at; at = at.parent) if (at === other) return true
  return false
}
