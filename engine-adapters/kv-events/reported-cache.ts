import type { BlockName, BlockNaming } from './block-naming.ts'
import { chooseNaming } from './choose-naming.ts'
import { ContentNaming } from './content-naming.ts'
import { HeldBlocks, type LostBlocks } from './held-blocks.ts'
import type { BlocksRemoved, BlocksStored, KvEvent } from './kv-event.ts'

/** Attention whose blocks a prompt's whole prefix needs; windows and states of hybrid models come and go beside them. */
const wholePrefix: readonly (string | undefined)[] = [
  undefined,
  'full_attention',
  'mla_attention',
  'sink_full_attention',
]

/** An engine's cache as its events tell it. `onLost` hears of blocks that no prompt can be served from any more. */
export class ReportedCache {
  readonly #blocks: HeldBlocks
  readonly #otherGroups = new Set<number>()
  #naming: BlockNaming | undefined
  #blockSize = 0
  #unnamed = 0
  /** of any block it was told what tells it apart from others of equal tokens */
  #tellsExtras = false

  constructor(onLost: (lost: LostBlocks) => void) {
    this.#blocks = new HeldBlocks(onLost)
  }

  /** Tokens in a block; 0 until the engine has said so. */
  get blockSize(): number {
    return this.#blockSize
  }

  /** Blocks that are known, that prompts can be served from, and how often one was spoken of that could not be named. */
  get counts(): { readonly known: number; readonly reachable: number; readonly unnamed: number } {
    return { ...this.#blocks.counts, unnamed: this.#unnamed }
  }

  /** Whether blocks are named by content, so that what is reused at another position is taken for exact. */
  get trustsContent(): boolean {
    return this.#naming instanceof ContentNaming
  }

  /** Whether blocks of a salted prompt cannot be recognised: they are named by content, and no salt was ever told. */
  get hidesSalts(): boolean {
    return this.trustsContent && !this.#tellsExtras
  }

  /** Takes in one event; `cleared` tells nobody. */
  apply(event: KvEvent): void {
    switch (event.type) {
      case 'stored':
        this.#store(event)
        break
      case 'removed':
        this.#remove(event)
        break
      case 'cleared':
        this.clear()
    }
  }

  /** Nothing is known to be held; how blocks are named stays. */
  clear(): void {
    this.#blocks.clear()
    this.#naming?.forgetAll()
  }

  /** The engine may be another: how it names its blocks is learned anew. */
  reset(): void {
    this.clear()
    this.#naming = undefined
    this.#blockSize = 0
    this.#tellsExtras = false
    this.#otherGroups.clear()
  }

  /** The names of a prompt's full blocks; undefined until the engine has shown how it names them. */
  namesOfPrompt(tokens: ArrayLike<number>, salt: string | undefined): BlockName[] | undefined {
    if (this.#blockSize === 0) return undefined
    return this.#naming?.namesOfPrompt(tokens, this.#blockSize, salt)
  }

  /** A moment from which on blocks are new, to be asked about by `countHeld`. */
  mark(): number {
    return this.#blocks.mark()
  }

  /** How many of a prompt's blocks, from its beginning, it can be served from, and could be before a moment. */
  countHeld(names: readonly BlockName[], before?: number): number {
    return this.#blocks.countHeld(names, before)
  }

  /** How many copies of a block a tier holds. */
  copiesOf(name: BlockName, tier: string): number {
    return this.#blocks.copiesOf(name, tier)
  }

  #store(event: BlocksStored): void {
    if (!wholePrefix.includes(event.attention)) this.#otherGroups.add(event.group)
    if (this.#otherGroups.has(event.group)) return
    const naming = this.#namingFor(event)
    if (!naming) {
      this.#unnamed += event.hashes.length
      return
    }
    this.#tellsExtras ||= event.extras.some((extra) => extra !== undefined)
    // entries of less than a block are announced beside the whole ones
    if (event.blockSize > this.#blockSize) this.#blockSize = event.blockSize
    let before = event.parent === undefined ? undefined : naming.nameOf(event.parent)
    for (const name of naming.nameStored(event)) {
      if (name === undefined) this.#unnamed += 1
      else this.#blocks.store(name, before, event.tier)
      before = name
    }
  }

  #remove({ hashes, tier, group }: BlocksRemoved): void {
    if (this.#otherGroups.has(group)) return
    for (const hash of hashes) {
      const name = this.#naming?.nameOf(hash)
      if (name === undefined) this.#unnamed += 1
      else if (this.#blocks.remove(name, tier)) this.#naming!.forget(hash)
    }
  }

  /** It is shown by the first block of a prompt: nothing but its own tokens is in its hash. */
  #namingFor(event: BlocksStored): BlockNaming | undefined {
    if (!this.#naming && event.parent === undefined && event.tokens.length > 0) this.#naming = chooseNaming(event)
    return this.#naming
  }
}
