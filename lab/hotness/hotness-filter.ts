import { EntryBuckets, slots } from './entry-buckets.ts'
import { type EntryLayout, type HotnessBits, toEntryLayout } from './entry-layout.ts'
import { hashWord } from './murmur-hash.ts'

/** The record of a prefix or block. */
export interface HotnessRecord {
  /** falls from the maximum age to 0 while it is not reused */
  readonly clock: number
  /** how often it was requested; saturates at the maximum of its bits */
  readonly frequency: number
  /** depth in its tree when it was new; saturates at the maximum of its bits */
  readonly depth: number
}

export interface HotnessFilterOptions {
  /** default: eight each; at most 32 in total; the fingerprint takes 4 to 16 */
  readonly bits?: Partial<HotnessBits> | undefined
  /** initial room, in entries; the filter grows when that is full */
  readonly capacity?: number
  /** maximum room, rounded up to a power of two; beyond it, the coldest entries are dropped */
  readonly maxCapacity?: number
  /** after this many requests all clocks fall by one */
  readonly requestsPerAge?: number
}

/** Moves during an insertion before the filter grows. At a load of 0.95 this is enough for most insertions. */
const mostKicks = 500

/**
 * How hot each prefix or block is: the hotness-aware cuckoo filter of HotPrefix §3.2.1 and §3.2.2. An entry has 32
 * bits. It stores a fingerprint of the key's hash (Equation 2). It is in one of two buckets, and each bucket follows
 * from the other one and the fingerprint (Equation 4).
 *
 * Two things differ from the paper. Equation 3 as printed, b1 = hash(f), would leave 256 places for eight-bit
 * fingerprints and, with Equation 4, b2 = 0. Here b1 comes from the hash of the key, as in the cuckoo filter that the
 * paper builds on (Fan et al. 2014). Also, an entry stores 16 further bits of its place. With them the filter can
 * double without loss and without the keys. They are compared too, so growth does not add false positives. An insertion
 * that finds no place makes the filter grow; at `maxCapacity`, the coldest entry among the candidates is dropped.
 * Nothing throws after construction.
 */
export class HotnessFilter {
  readonly requestsPerAge: number
  readonly #layout: EntryLayout
  /** by fingerprint: XOR between the two places; odd, so that the buckets differ */
  readonly #offsets: Int32Array
  readonly #buckets: EntryBuckets
  #size = 0
  #requests = 0
  #random = 0x9e3779b9

  constructor(options: HotnessFilterOptions = {}) {
    this.#layout = toEntryLayout(options.bits)
    this.#offsets = Int32Array.from({ length: 1 << this.#layout.fingerprintBits }, (_, f) => hashWord(f) | 1)
    this.requestsPerAge = options.requestsPerAge ?? 64
    this.#buckets = new EntryBuckets(this.#layout, options.capacity ?? 1_024, options.maxCapacity ?? 1 << 24)
  }

  /** Number of entries. */
  get size(): number {
    return this.#size
  }

  /** Share of the room in use. */
  get load(): number {
    return this.#size / this.#buckets.capacity
  }

  get bytes(): number {
    return this.#buckets.bytes + this.#offsets.byteLength
  }

  /** The maximum clock value. */
  get maxAge(): number {
    return this.#layout.mostClock
  }

  /**
   * Counts one or more requests for a hash: resets its clock to the maximum and raises its frequency. Inserts it if it
   * is new. O(1), except when the filter doubles.
   */
  note(hash: number, depth = 0, times = 1): void {
    const { mostClock, mostFrequency, mostDepth, clockShift, frequencyShift } = this.#layout
    const fingerprint = this.#fingerprintOf(hash)
    const found = this.#find(hash, fingerprint)
    if (found >= 0) {
      this.#buckets.touch(found, times)
      return
    }
    const rest = (mostClock << clockShift) | (Math.min(times, mostFrequency) << frequencyShift)
    this.#insert(hash, fingerprint, rest | Math.min(depth, mostDepth))
  }

  /** Inserts a record known from elsewhere, unless the hash is there. O(1), except when the filter doubles. */
  adopt(hash: number, { clock, frequency, depth }: HotnessRecord): void {
    const fingerprint = this.#fingerprintOf(hash)
    if (this.#find(hash, fingerprint) >= 0) return
    const { mostClock, mostFrequency, mostDepth, clockShift, frequencyShift } = this.#layout
    const fields = (Math.min(clock, mostClock) << clockShift) | (Math.min(frequency, mostFrequency) << frequencyShift)
    this.#insert(hash, fingerprint, fields | Math.min(depth, mostDepth))
  }

  /** Returns the record of a hash; undefined if it has none. A few in a million hashes are confused with another. */
  recordOf(hash: number): HotnessRecord | undefined {
    const found = this.#find(hash)
    if (found < 0) return undefined
    const buckets = this.#buckets
    return { clock: buckets.clockAt(found), frequency: buckets.frequencyAt(found), depth: buckets.depthAt(found) }
  }

  /** Returns how often a hash was requested; 0 if never. */
  frequencyOf(hash: number): number {
    const found = this.#find(hash)
    return found < 0 ? 0 : this.#buckets.frequencyAt(found)
  }

  /** Returns how recently a hash was requested; 0 if long ago or never. */
  clockOf(hash: number): number {
    const found = this.#find(hash)
    return found < 0 ? 0 : this.#buckets.clockAt(found)
  }

  /** Counts a processed request. Returns true if all clocks fall by one, which is applied lazily. O(1). */
  passRequest(): boolean {
    this.#requests += 1
    if (this.#requests % this.requestsPerAge !== 0) return false
    this.#buckets.fall()
    return true
  }

  clear(): void {
    this.#buckets.clear()
    this.#size = 0
  }

  /** Returns the word of the entry; −1 if there is none. */
  #find(hash: number, fingerprint: number = this.#fingerprintOf(hash)): number {
    const first = this.#buckets.find(hash, fingerprint)
    return first < 0 ? this.#buckets.find(hash ^ this.#offsets[fingerprint]!, fingerprint) : first
  }

  #insert(place: number, fingerprint: number, rest: number): void {
    const entry = (fingerprint << this.#layout.fingerprintShift) | rest
    this.#size += 1
    const other = place ^ this.#offsets[fingerprint]!
    const own = this.#buckets.countFree(place)
    const others = this.#buckets.countFree(other)
    // use the emptier bucket: buckets then fill evenly, and fewer entries have to move later
    if (own > 0 || others > 0) this.#buckets.put(own >= others ? place : other, entry)
    else if (!this.#makeRoom(place, entry)) this.#kick(other, entry)
  }

  /** Puts an entry into its bucket. If that is full, the entry replaces another one, which is put elsewhere likewise. */
  #kick(firstPlace: number, firstEntry: number): void {
    const buckets = this.#buckets
    let place = firstPlace
    let entry = firstEntry
    for (let kicks = 0; kicks < mostKicks; kicks++) {
      if (buckets.put(place, entry) || this.#makeRoom(place, entry)) return
      const bucket = buckets.bucketOf(place)
      buckets.settle(bucket)
      const slot = this.#draw() % slots
      const moved = buckets.entryAt(bucket, slot)
      const to = this.#otherPlaceAt(bucket, slot)
      buckets.write(bucket, slot, place, entry)
      entry = moved
      place = to
    }
    if (buckets.grow()) this.#kick(place, entry)
    else this.#dropColdest(place, entry)
  }

  /**
   * Puts an entry into a full bucket if another entry there has a free slot in its other bucket. The four are looked up
   * independently of each other, which costs less than a chain of moves.
   */
  #makeRoom(place: number, entry: number): boolean {
    const buckets = this.#buckets
    const bucket = buckets.bucketOf(place)
    for (let slot = 0; slot < slots; slot++) {
      const to = this.#otherPlaceAt(bucket, slot)
      if (buckets.countFree(to) === 0) continue
      buckets.settle(bucket)
      buckets.put(to, buckets.entryAt(bucket, slot))
      buckets.write(bucket, slot, place, entry)
      return true
    }
    return false
  }

  /** Returns the other place of the entry in a slot (Equation 4). */
  #otherPlaceAt(bucket: number, slot: number): number {
    const entry = this.#buckets.entryAt(bucket, slot)
    return this.#buckets.placeAt(bucket, slot) ^ this.#offsets[entry >>> this.#layout.fingerprintShift]!
  }

  /** Drops the coldest of a new entry and the entries in its two buckets (Equation 6). */
  #dropColdest(place: number, entry: number): void {
    this.#size -= 1
    const buckets = this.#buckets
    const offset = this.#offsets[entry >>> this.#layout.fingerprintShift]!
    let least = this.#hotnessOf(entry)
    let coldest: number | undefined
    let slot = 0
    for (const at of [place, place ^ offset]) {
      const bucket = buckets.bucketOf(at)
      buckets.settle(bucket)
      for (let other = 0; other < slots; other++) {
        const hotness = this.#hotnessOf(buckets.entryAt(bucket, other))
        // in a tie an old entry is dropped, because the new one has just been requested
        if (hotness > least || (hotness === least && coldest !== undefined)) continue
        least = hotness
        coldest = at
        slot = other
      }
    }
    if (coldest !== undefined) buckets.write(buckets.bucketOf(coldest), slot, coldest, entry)
  }

  /** Returns Equation 6 for an entry with an up-to-date clock. */
  #hotnessOf(entry: number): number {
    const { clockShift, frequencyShift, mostClock, mostFrequency } = this.#layout
    return ((entry >>> frequencyShift) & mostFrequency) * ((entry >>> clockShift) & mostClock)
  }

  #fingerprintOf(hash: number): number {
    const mixed = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
    return (mixed ^ (mixed >>> 12)) >>> (32 - this.#layout.fingerprintBits)
  }

  /** Returns a pseudo-random number (xorshift) to choose what moves; the seed is the same in every filter. */
  #draw(): number {
    let random = this.#random
    random ^= random << 13
    random ^= random >>> 17
    random ^= random << 5
    this.#random = random >>> 0
    return this.#random >>> 8
  }
}
