import { EntryBuckets, slots } from './entry-buckets.ts'
import { type EntryLayout, type HotnessBits, toEntryLayout } from './entry-layout.ts'
import { hashWord } from './murmur-hash.ts'

/** What is known of a prefix or a block. */
export interface HotnessRecord {
  /** falls from the largest age to 0 while it is not reused */
  readonly clock: number
  /** how often it was asked for; stays at the largest that its bits hold */
  readonly frequency: number
  /** where it stands in its tree when it was new; the largest that its bits hold stands for all beyond */
  readonly depth: number
}

export interface HotnessFilterOptions {
  /** by default eight each; 32 at most together, and of the fingerprint 4 to 16 */
  readonly bits?: Partial<HotnessBits> | undefined
  /** entries there is room for at first; it grows when that is full */
  readonly capacity?: number
  /** there is never room for more, but for the next power of two; then the coldest go */
  readonly maxCapacity?: number
  /** after so many requests all clocks fall by one */
  readonly requestsPerAge?: number
}

/** Moves of an insertion before the filter grows: at 0.95 full that is what most of them need. */
const mostKicks = 500

/**
 * How hot each prefix or block is: the hotness-aware cuckoo filter of HotPrefix §3.2.1 and §3.2.2. An entry is 32 bits.
 * What is asked for is known by a hash, of which the entry keeps a fingerprint
 * (Equation 2); it lies in one of two buckets, and either is found from the other and the fingerprint (Equation 4).
 *
 * Two things differ from the paper. Equation 3 as printed, b1 = hash(f), would give 256 places to fingerprints of eight
 * bits and, with Equation 4, b2 = 0; b1 comes from the hash, as in the cuckoo filter that the paper builds on (Fan et
 * al. 2014). And an entry keeps 16 further bits of its place: with them the filter doubles without loss and without what
 * was hashed, and they are compared, so that growth costs no false positives. Insertions that find no place let it grow;
 * at `maxCapacity` the coldest of those in question goes. Nothing throws.
 */
export class HotnessFilter {
  readonly requestsPerAge: number
  readonly #layout: EntryLayout
  /** by fingerprint: how far the two buckets are apart; odd, so that they differ */
  readonly #offsets: Uint32Array
  readonly #buckets: EntryBuckets
  #size = 0
  #requests = 0
  #random = 0x9e3779b9

  constructor(options: HotnessFilterOptions = {}) {
    this.#layout = toEntryLayout(options.bits)
    this.#offsets = Uint32Array.from({ length: 1 << this.#layout.fingerprintBits }, (_, f) => hashWord(f) | 1)
    this.requestsPerAge = options.requestsPerAge ?? 64
    this.#buckets = new EntryBuckets(this.#layout, options.capacity ?? 1_024, options.maxCapacity ?? 1 << 24)
  }

  /** Entries held. */
  get size(): number {
    return this.#size
  }

  /** The share of the room that is taken. */
  get load(): number {
    return this.#size / this.#buckets.capacity
  }

  get bytes(): number {
    return this.#buckets.bytes + this.#offsets.byteLength
  }

  /** The largest clock. */
  get maxAge(): number {
    return this.#layout.mostClock
  }

  /**
   * What has this hash is asked for, by default once: its clock starts anew and its frequency rises. If it is not there
   * it is inserted. O(1), but when the filter doubles.
   */
  note(hash: number, depth = 0, times = 1): void {
    const { mostClock, mostFrequency, mostDepth, clockShift, frequencyShift } = this.#layout
    const found = this.#find(hash)
    if (found >= 0) {
      this.#buckets.touch(found, times)
      return
    }
    const rest = (mostClock << clockShift) | (Math.min(times, mostFrequency) << frequencyShift)
    this.#insert(hash, this.#fingerprintOf(hash), rest | Math.min(depth, mostDepth))
  }

  /** What is known from elsewhere holds if it is not there yet: its clock, frequency and depth. O(1), but when it doubles. */
  adopt(hash: number, { clock, frequency, depth }: HotnessRecord): void {
    if (this.#find(hash) >= 0) return
    const { mostClock, mostFrequency, mostDepth, clockShift, frequencyShift } = this.#layout
    const fields = (Math.min(clock, mostClock) << clockShift) | (Math.min(frequency, mostFrequency) << frequencyShift)
    this.#insert(hash, this.#fingerprintOf(hash), fields | Math.min(depth, mostDepth))
  }

  /** What is known of a hash; undefined if it was never asked for. A few in a million are taken for another one. */
  recordOf(hash: number): HotnessRecord | undefined {
    const found = this.#find(hash)
    if (found < 0) return undefined
    const buckets = this.#buckets
    return { clock: buckets.clockAt(found), frequency: buckets.frequencyAt(found), depth: buckets.depthAt(found) }
  }

  /** How often it was asked for; 0 if never. */
  frequencyOf(hash: number): number {
    const found = this.#find(hash)
    return found < 0 ? 0 : this.#buckets.frequencyAt(found)
  }

  /** How recently it was asked for; 0 if not for a long time, or never. */
  clockOf(hash: number): number {
    const found = this.#find(hash)
    return found < 0 ? 0 : this.#buckets.clockAt(found)
  }

  /** A request has been processed. Returns whether all clocks have fallen by one: when a bucket is next written. O(1). */
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

  /** The word of the entry, −1 if there is none. */
  #find(hash: number): number {
    const fingerprint = this.#fingerprintOf(hash)
    const first = this.#buckets.find(hash, fingerprint)
    return first < 0 ? this.#buckets.find(hash ^ this.#offsets[fingerprint]!, fingerprint) : first
  }

  #insert(place: number, fingerprint: number, rest: number): void {
    const entry = ((fingerprint << this.#layout.fingerprintShift) | rest) >>> 0
    this.#size += 1
    const other = place ^ this.#offsets[fingerprint]!
    const [own, others] = [this.#buckets.countFree(place), this.#buckets.countFree(other)]
    // into the emptier one: both fill alike, so less has to move later
    if (own > 0 || others > 0) this.#buckets.put(own >= others ? place : other, entry)
    else this.#kick(this.#draw() & 1 ? place : other, entry)
  }

  /** Puts an entry in the place of another one, that one in its other bucket, and so on. */
  #kick(firstPlace: number, firstEntry: number): void {
    const buckets = this.#buckets
    let place = firstPlace
    let entry = firstEntry
    for (let kicks = 0; kicks < mostKicks; kicks++) {
      const bucket = buckets.bucketOf(place)
      buckets.settle(bucket)
      const slot = this.#draw() % slots
      const moved = buckets.entryAt(bucket, slot)
      const from = buckets.placeAt(bucket, slot)
      buckets.write(bucket, slot, place, entry)
      entry = moved
      place = from ^ this.#offsets[moved >>> this.#layout.fingerprintShift]!
      if (this.#buckets.put(place, entry)) return
    }
    if (buckets.grow()) {
      if (!this.#buckets.put(place, entry)) this.#kick(place, entry)
    } else this.#dropColdest(place, entry)
  }

  /** Of an entry and those of its two buckets, all but the coldest stay (Equation 6). */
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
        // of equals one that was there goes: the new one has just been asked for
        if (hotness > least || (hotness === least && coldest !== undefined)) continue
        least = hotness
        coldest = at
        slot = other
      }
    }
    if (coldest !== undefined) buckets.write(buckets.bucketOf(coldest), slot, coldest, entry)
  }

  /** Equation 6 of an entry whose bucket is settled. */
  #hotnessOf(entry: number): number {
    const { clockShift, frequencyShift, mostClock, mostFrequency } = this.#layout
    return ((entry >>> frequencyShift) & mostFrequency) * ((entry >>> clockShift) & mostClock)
  }

  #fingerprintOf(hash: number): number {
    const mixed = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
    return (mixed ^ (mixed >>> 12)) >>> (32 - this.#layout.fingerprintBits)
  }

  /** Which of those in question moves: xorshift, from the same start in every filter. */
  #draw(): number {
    let random = this.#random
    random ^= random << 13
    random ^= random >>> 17
    random ^= random << 5
    this.#random = random >>> 0
    return this.#random >>> 8
  }
}
