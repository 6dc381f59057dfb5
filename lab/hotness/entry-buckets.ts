import type { EntryLayout } from './entry-layout.ts'

/** entries per bucket */
export const slots = 4
/**
 * words per bucket: four entries, the age to which their clocks have fallen, and 16 further place bits of each entry
 */
const words = 7
const ageWord = 4
const placeWord = 5
const placeBits = 16

/**
 * The buckets of a hotness filter, 28 bytes each in one flat array. A place is a hash. Its low bits select the bucket,
 * and 16 further bits are stored with each entry, so that the number of buckets can double. Clocks are updated when a
 * bucket is written.
 */
export class EntryBuckets {
  readonly #layout: EntryLayout
  readonly #firstBits: number
  readonly #mostBits: number
  #bits: number
  #words: Int32Array
  #age = 0

  /** Makes room for `capacity` entries, growing to at most `maxCapacity`. */
  constructor(layout: EntryLayout, capacity: number, maxCapacity: number) {
    this.#layout = layout
    this.#firstBits = toBucketBits(capacity)
    const mostBits = toBucketBits(maxCapacity)
    this.#mostBits = Math.max(this.#firstBits, Math.min(mostBits, this.#firstBits + placeBits))
    this.#bits = this.#firstBits
    this.#words = new Int32Array(words << this.#bits)
  }

  /** Number of entries there is room for. */
  get capacity(): number {
    return slots << this.#bits
  }

  get bytes(): number {
    return this.#words.byteLength
  }

  /** Lets all clocks fall by one. O(1), because each bucket is updated when it is next written. */
  fall(): void {
    this.#age += 1
  }

  clear(): void {
    this.#words.fill(0)
  }

  /** Returns the word of the entry with this fingerprint and place; −1 if there is none. */
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

  /** Resets an entry's clock to the maximum and raises its frequency. */
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

  /** Returns the first word of the bucket of a place. */
  bucketOf(place: number): number {
    return (place & ((1 << this.#bits) - 1)) * words
  }

  /** Returns the number of free slots in the bucket of a place. */
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

  /** Puts an entry with an up-to-date clock into a free slot of its bucket. Returns false if there is none. */
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

  /** Updates the clocks of a bucket. */
  settle(bucket: number): void {
    const fallen = this.#age - this.#words[bucket + ageWord]!
    if (fallen === 0) return
    this.#words[bucket + ageWord] = this.#age
    const { clockShift, mostClock } = this.#layout
    for (let word = bucket; word < bucket + slots; word++) {
      const entry = this.#words[word]!
      const clock = (entry >>> clockShift) & mostClock
      this.#words[word] = entry - (Math.min(clock, fallen) << clockShift)
    }
  }

  /** Returns the entry in a slot. */
  entryAt(bucket: number, slot: number): number {
    return this.#words[bucket + slot]!
  }

  /** Returns the place of the entry in a slot: as many bits of it as the buckets can ever need. */
  placeAt(bucket: number, slot: number): number {
    const low = (bucket / words) & ((1 << this.#firstBits) - 1)
    return (this.#furtherPlace(bucket, slot) << this.#firstBits) | low
  }

  /** Puts an entry into a slot, replacing what is there. */
  write(bucket: number, slot: number, place: number, entry: number): void {
    const word = bucket + placeWord + (slot >> 1)
    const shift = placeBits * (slot & 1)
    const further = ((place >>> this.#firstBits) & 0xffff) << shift
    this.#words[bucket + slot] = entry
    this.#words[word] = (this.#words[word]! & ~(0xffff << shift)) | further
  }

  /** Doubles the buckets. Returns false at the maximum. Each entry keeps its slot, in its old bucket or the new one. */
  grow(): boolean {
    if (this.#bits === this.#mostBits) return false
    const old = this.#words
    const next = new Int32Array(2 * old.length)
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

/** Returns log₂ of the number of buckets for this many entries. */
function toBucketBits(entries: number): number {
  return Math.max(1, Math.ceil(Math.log2(entries / slots)))
}
