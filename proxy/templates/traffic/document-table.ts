import type { BlockId } from '#index/context-block.ts'

/** How often something was seen; more is as good as this. */
const most = 255

/** Documents of a template in numbered slots; a new one takes the slot of the one that was seen longest ago. */
export class DocumentTable {
  readonly #capacity: number
  /** Key to slot, least recently taken first. */
  readonly #slots = new Map<number, number>()
  /** Key of the document in each slot. */
  readonly keys: Float64Array
  /** Number of the list it stood in last, from 1. */
  readonly last: Uint32Array
  /** Lists it stood in. */
  readonly seen: Uint8Array
  /** Key of the document that followed it last, 0 at the end of a list. */
  readonly followers: Float64Array
  /** 1 if different documents have followed it. */
  readonly parted: Uint8Array

  constructor(capacity: number) {
    this.#capacity = capacity
    this.keys = new Float64Array(capacity)
    this.last = new Uint32Array(capacity)
    this.seen = new Uint8Array(capacity)
    this.followers = new Float64Array(capacity)
    this.parted = new Uint8Array(capacity)
  }

  get size(): number {
    return this.#slots.size
  }

  has(key: number): boolean {
    return this.#slots.has(key)
  }

  /** Returns the slot of a document, which is then the one taken last. `free` hears of a slot whose document had to go. */
  take(key: number, free: (slot: number) => void): number {
    let slot = this.#slots.get(key)
    if (slot !== undefined) this.#slots.delete(key)
    else {
      slot = this.size < this.#capacity ? this.size : this.#dropOldest(free)
      this.keys[slot] = key
      this.last[slot] = this.seen[slot] = this.followers[slot] = this.parted[slot] = 0
    }
    this.#slots.set(key, slot)
    return slot
  }

  /** Notes that a document stood in a list, and which one followed it there. */
  place(slot: number, list: number, follower: number): void {
    this.last[slot] = list
    this.followers[slot] = follower
    this.seen[slot] = Math.min(most, this.seen[slot]! + 1)
  }

  #dropOldest(free: (slot: number) => void): number {
    const [key, slot] = this.#slots.entries().next().value!
    this.#slots.delete(key)
    free(slot)
    return slot
  }

  /** Completes a table whose columns were filled; returns false if they are none of a table. */
  restore(): boolean {
    const free = this.keys.indexOf(0)
    const used = free < 0 ? this.#capacity : free
    const slots = Array.from({ length: used }, (_, slot) => slot).sort((a, b) => this.last[a]! - this.last[b]!)
    for (const slot of slots) this.#slots.set(this.keys[slot]!, slot)
    return this.size === used && this.keys.subarray(used).every((key) => key === 0)
  }
}

/** A number from 1 to below 2^48 for an identity. Two documents have the same one with a probability of 1 in 10^14. */
export function toDocumentKey(id: BlockId): number {
  let a = 0x811c9dc5
  let b = 0x9747b28c
  for (let i = 0; i < id.length; i++) {
    const code = id.charCodeAt(i)
    a = Math.imul(a ^ code, 0x01000193)
    b = Math.imul(b ^ code, 0x85ebca6b)
  }
  return 1 + (a >>> 1) * 0x1_0000 + (b >>> 17)
}
