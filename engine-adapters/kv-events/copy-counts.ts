import { deviceTier } from './kv-event.ts'

/** The number of copies of a block in each tier. Nearly all blocks are on the device only. */
export class CopyCounts {
  #device = 0
  #others: Map<string, number> | undefined

  get isEmpty(): boolean {
    return this.#device === 0 && this.#others === undefined
  }

  of(tier: string): number {
    return tier === deviceTier ? this.#device : (this.#others?.get(tier) ?? 0)
  }

  add(tier: string): void {
    if (tier === deviceTier) this.#device += 1
    else {
      this.#others ??= new Map()
      this.#others.set(tier, this.of(tier) + 1)
    }
  }

  /** Removes one copy, if there is one. */
  drop(tier: string): void {
    const left = this.of(tier) - 1
    if (left < 0) return
    if (tier === deviceTier) this.#device = left
    else if (left > 0) this.#others!.set(tier, left)
    else {
      this.#others!.delete(tier)
      if (this.#others!.size === 0) this.#others = undefined
    }
  }
}
