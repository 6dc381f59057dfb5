import type { EntryLayout } from './entry-layout.ts'

/** entries in a bucket */
export const slots = 4
/** of a bucket: its four entries; up to which age their clocks have fallen; 16 further bits of each entry's place */
const words = 7
const ageWord = 4
const placeWord = 5
const placeBits = 16

/**
 * The buckets of a hotness filter, 28 bytes each in one flat array. A place is a hash: its low bits say which bucket, and
 * 16 further bits of it are kept with each entry, so that the buckets can double. Clocks fall when a bucket is written.
 */
export class EntryBuckets {
  readonly #layout: EntryLayout
  readonly #firstBits: number
  readonly #mostBits: number
  #bits: number
  #words: Uint32Array
  #age = 0

  /** Room for so many entries at first, and at most. */
  constructor(layout: EntryLayout, capacity: number, maxCapacity: number) {
    this.#layout = layout
    this.#firstBits = toBucketBits(capacity)
    const mostBits = toBucketBits(maxCapacity)
    this.#mostBits = Math.max(this.#firstBits, Math.min(mostBits, this.#firstBits + placeBits))
    this.#bits = this.#firstBits
    this.#words = new Uint32Array(words << this.#bits)
  }

  /** Entries there is room for. */
  get capacity(): number {
    return slots << this.#bits
  }

  get bytes(): number {
    return this.#words.byteLength
  }

  /** All clocks have fallen by one. O(1): each bucket learns of it when it is next written. */
  fall(): void {
    this.#age += 1
  }

  clear(): void {
    this.#words.fill(0)
  }

  /** The word of the entry with this fingerprint that lies at a place, −1 if there is none. */
  find(place: number, fingerprint: number): number {
    const all = this.#words
    const shift = this.#layout.fingerprintShift
    const bucket = this.bucketOf(place)
    for (let word = bucket; word < bucket + slots; word++) {
      const entry = all[word]!
      if (entry >>> shift !== fingerprint || entry === 0) continue
      if (this.#furtherPlace(bucket, word - bucket) === ((place >>> this.#firstBits) & 0xffff)) return word
    }
    return -1
  }

  /** The entry's clock starts anew, and its frequency rises. */
  touch(word: number, times: number): void {
    const { mostClock, mostFrequency, clockShift, frequencyShift } = this.#layout
    const entry = this.#words[word]!
    const frequency = Math.min(((entry >>> frequencyShift) & mostFrequency) + times, mostFrequency)
    const kept = entry & ~((mostClock << clockShift) | (mostFrequency << frequencyShift))
    this.settle(word - (word % words))
    this.#words[word] = kept | (mostClock << clockShift) | (frequency << frequencyShift)
  }

  clockAt(word: number): number {
    const { clockShift, mostClock } = this.#layout
    const fallen = this.#age - this.#words[word - (word % words) + ageWord]!
    return Math.max(0, ((this.#words[word]! >>> clockShift) & mostClock) - fallen)
  }

  frequencyAt(word: number): number {
    return (this.#words[word]! >>> this.#layout.frequencyShift) & this.#layout.mostFrequency
  }

  depthAt(word: number): number {
    return this.#words[word]! & this.#layout.mostDepth
  }

  /** The word at which the bucket of a place begins. */
  bucketOf(place: number): number {
    return (place & ((1 << this.#bits) - 1)) * words
  }

  /** Free slots in the bucket of a place. */
  countFree(place: number): number {
    const all = this.#words
    const bucket = this.bucketOf(place)
    return (
      Number(all[bucket] === 0) +
      Number(all[bucket + 1] === 0) +
      Number(all[bucket + 2] === 0) +
      Number(all[bucket + 3] === 0)
    )
  }

  /** Puts an entry, whose clock is as of now, into a free slot of its bucket; returns false if there is none. */
  put(place: number, entry: number): boolean {
    const all = this.#words
    const bucket = this.bucketOf(place)
    for (let slot = 0; slot < slots; slot++) {
      if (all[bucket + slot] !== 0) continue
      this.settle(bucket)
      this.write(bucket, slot, place, entry)
      return true
    }
    return false
  }

  /** Lets the clocks of a bucket fall to what they are now. */
  settle(bucket: number): void {
    const fallen = this.#age - this.#words[bucket + ageWord]!
    if (fallen === 0) return
    this.#words[bucket + ageWord] = this.#age
    const { clockShift, mostClock } = this.#layout
    for (let word = bucket; word < bucket + slots; word++) {
      const entry = this.#words[word]!
      const clock = (entry >>> clockShift) & mostClock
      this.#words[word] = entry - Math.min(clock, fallen) * 2 ** clockShift
    }
  }

  /** The entry in a slot. */
  entryAt(bucket: number, slot: number): number {
    return this.#words[bucket + slot]!
  }

  /** Where the entry in a slot lies: as many bits of its place as buckets can ever need. */
  placeAt(bucket: number, slot: number): number {
    const low = (bucket / words) & ((1 << this.#firstBits) - 1)
    return ((this.#furtherPlace(bucket, slot) << this.#firstBits) | low) >>> 0
  }

  /** Puts an entry into a slot, whatever lies there. */
  write(bucket: number, slot: number, place: number, entry: number): void {
    const word = bucket + placeWord + (slot >> 1)
    const shift = placeBits * (slot & 1)
    const further = ((place >>> this.#firstBits) & 0xffff) << shift
    this.#words[bucket + slot] = entry
    this.#words[word] = (this.#words[word]! & ~(0xffff << shift)) | further
  }

  /** Doubles; returns false if it may not. An entry stays in its slot, in its bucket or in the new one behind it. */
  grow(): boolean {
    if (this.#bits === this.#mostBits) return false
    const old = this.#words
    const next = new Uint32Array(2 * old.length)
    next.set(old)
    next.set(old, old.length)
    const bit = this.#bits - this.#firstBits
    for (let bucket = 0; bucket < old.length; bucket += words) {
      for (let slot = 0; slot < slots; slot++) {
        const isFar = (this.#furtherPlace(bucket, slot) >>> bit) & 1
        next[(isFar ? 0 : old.length) + bucket + slot] = 0
      }
    }
    this.#words = next
    this.#bits += 1
    return true
  }

  #furtherPlace(bucket: number, slot: number): number {
    return (this.#words[bucket + placeWord + (slot >> 1)]! >>> (placeBits * (slot & 1))) & 0xffff
  }
}

/** Buckets for so many entries, as a power of two. */
function toBucketBits(entries: number): number {
  return Math.max(1, Math.ceil(Math.log2(entries / slots)))
}
