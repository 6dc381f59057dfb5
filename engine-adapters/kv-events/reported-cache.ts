import { LRUCache } from 'lru-cache'
import { type BlockName, BlockNaming } from './block-naming.ts'
import { HeldBlocks, type LostBlocks } from './held-blocks.ts'
import { type BlockHash, type BlocksRemoved, type BlocksStored, deviceTier, type KvEvent } from './kv-event.ts'

/** Attention that needs the blocks of the whole prefix; windows and states of hybrid models come and go separately. */
const wholePrefix: readonly (string | undefined)[] = [
  undefined,
  'full_attention',
  'mla_attention',
  'sink_full_attention',
]

/** Tokens of a prompt that an engine need not compute, by where it has them: the host's memory, or a tier behind it. */
export interface HeldTokens {
  readonly device: number
  readonly host: number
  readonly remote: number
}

export const nothingHeld: HeldTokens = { device: 0, host: 0, remote: 0 }

/** Blocks that are followed in each tier besides the device. */
const mostBeside = 500_000

/**
 * An engine's cache as its events report it. Calls `onLost` for blocks that can no longer serve a prompt: neither from
 * the device nor from the host's memory, from where they are read in a small part of the time that computing takes.
 */
export class ReportedCache {
  /** what the device has, and what serves a prompt from there or from the host's memory */
  readonly blocks: HeldBlocks
  /** what other tiers have */
  readonly #beside: { readonly host: TierBlocks; readonly remote: TierBlocks }
  readonly #otherGroups = new Set<number>()
  #naming: BlockNaming | undefined
  /** tokens in a block; 0 until the engine has reported it */
  blockSize = 0
  /** whether any event has reported extras, which distinguish blocks of equal tokens */
  #tellsExtras = false

  /** `most`: how many blocks of each tier besides the device are followed. */
  constructor(onLost: (lost: LostBlocks) => void, most: number = mostBeside) {
    const createTier = (): TierBlocks =>
      new LRUCache<BlockName, TierBlock>({
        // by size, so that room is made as it is needed
        maxSize: most,
        sizeCalculation: () => 1,
        disposeAfter: ({ hash }, name, reason) => {
          if (reason === 'evict') this.#forget(hash, name)
        },
      })
    const host = createTier()
    this.#beside = { host, remote: createTier() }
    this.blocks = new HeldBlocks(onLost, (name) => host.has(name))
  }

  /** Whether blocks are named by content, so that KV reused at another position is taken for exact. */
  get trustsContent(): boolean {
    return this.#naming?.isByContent ?? false
  }

  /** Whether blocks of salted prompts cannot be recognised: they are named by content, and no salt was reported. */
  get hidesSalts(): boolean {
    return this.trustsContent && !this.#tellsExtras
  }

  /** Applies one event; `cleared` does not call `onLost`. */
  apply(event: KvEvent): void {
    if (event.type === 'cleared') this.clear()
    else if (event.tier !== deviceTier) this.#applyBeside(event)
    else if (event.type === 'stored') this.#store(event)
    else this.#remove(event)
  }

  /** Forgets all held blocks; the naming of blocks stays. */
  clear(): void {
    for (const blocks of [this.blocks, this.#beside.host, this.#beside.remote]) blocks.clear()
    this.#naming?.forgetAll()
  }

  /** Forgets everything: the engine may be another, so its naming of blocks must be learned again. */
  reset(): void {
    this.clear()
    this.#naming = undefined
    this.blockSize = 0
    this.#tellsExtras = false
    this.#otherGroups.clear()
  }

  /** The names of a prompt's full blocks; undefined until events have shown how the engine names blocks. */
  namesOfPrompt(tokens: ArrayLike<number>, salt: string | undefined): BlockName[] | undefined {
    if (this.blockSize === 0) return undefined
    return this.#naming?.namesOfPrompt(tokens, this.blockSize, salt)
  }

  /** How many blocks behind the first `device` ones other tiers have, without a gap. */
  countBeside(names: readonly BlockName[], device: number, before?: number): Omit<HeldTokens, 'device'> {
    const { host, remote } = this.#beside
    const behind = names.slice(device)
    const missing = behind.findIndex((name) => !hadBefore(host, name, before) && !hadBefore(remote, name, before))
    const held = missing === -1 ? behind : behind.slice(0, missing)
    const inHost = held.filter((name) => hadBefore(host, name, before)).length
    return { host: inHost, remote: held.length - inHost }
  }

  #store(event: BlocksStored): void {
    if (!wholePrefix.includes(event.attention)) this.#otherGroups.add(event.group)
    if (this.#otherGroups.has(event.group)) return
    // the first block of a prompt shows how blocks are named: its hash covers no block before it
    if (!this.#naming && event.parent === undefined && event.tokens.length > 0) this.#naming = new BlockNaming(event)
    const naming = this.#naming
    if (!naming) return
    this.#tellsExtras ||= event.extras.some((extra) => extra !== undefined)
    // entries smaller than a block are announced in addition to the whole blocks
    if (event.blockSize > this.blockSize) this.blockSize = event.blockSize
    let before = event.parent === undefined ? undefined : naming.nameOf(event.parent)
    for (const name of naming.nameStored(event)) {
      if (name !== undefined) this.blocks.store(name, before)
      before = name
    }
  }

  #remove({ hashes, group }: BlocksRemoved): void {
    if (this.#otherGroups.has(group)) return
    for (const hash of hashes) {
      const name = this.#naming?.nameOf(hash)
      if (name !== undefined && this.blocks.remove(name)) this.#forget(hash, name)
    }
  }

  /**
   * Applies what another tier tells. vLLM calls the host CPU, SGLang CPU_PINNED; what is behind it goes by many names. A
   * block goes by the name that the device gave it, since not every tier tells the extras that belong to a name.
   */
  #applyBeside({ type, tier, group, hashes }: BlocksStored | BlocksRemoved): void {
    if (this.#otherGroups.has(group)) return
    const blocks = /^cpu/i.test(tier) ? this.#beside.host : this.#beside.remote
    for (const hash of hashes) {
      const name = this.#naming?.nameOf(hash)
      if (name === undefined) continue
      if (type === 'stored') {
        blocks.set(name, { hash, since: blocks.peek(name)?.since ?? this.blocks.moment })
        this.blocks.changedElsewhere(name)
      } else {
        blocks.delete(name)
        this.#forget(hash, name)
      }
    }
  }

  /** A tier has lost a block: forgets what it is called, once none has it. */
  #forget(hash: BlockHash, name: BlockName): void {
    this.blocks.changedElsewhere(name)
    const { host, remote } = this.#beside
    if (![this.blocks, host, remote].some((blocks) => blocks.has(name))) this.#naming!.forget(hash)
  }
}

interface TierBlock {
  readonly hash: BlockHash
  /** the moment at which it came */
  readonly since: number
}

/** The newest blocks of a tier besides the device. Older ones are dropped, because not every tier says what it has lost. */
type TierBlocks = LRUCache<BlockName, TierBlock>

/** Whether a tier had a block before a moment. */
function hadBefore(blocks: TierBlocks, name: BlockName, moment = Number.POSITIVE_INFINITY): boolean {
  return (blocks.peek(name)?.since ?? Number.POSITIVE_INFINITY) < moment
}
