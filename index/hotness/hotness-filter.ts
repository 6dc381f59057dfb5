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

const slots = 4
/** of a bucket: its four entries; up to which age their clocks have fallen; 16 further bits of each entry's place */
const words = 7
const ageWord = 4
const placeWord = 5
const placeBits = 16
/** Moves of an insertion before the filter grows: at 0.95 full that is what most of them need. */
const mostKicks = 500

/**
 * How hot each prefix or block is: the hotness-aware cuckoo filter of HotPrefix §3.2.1 and §3.2.2. An entry is 32 bits,
 * a bucket 28 bytes in one flat array. What is asked for is known by a hash, of which the entry keeps a fingerprint
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
  readonly #firstBits: number
  readonly #mostBits: number
  #bits: number
  #words: Uint32Array
  #size = 0
  #requests = 0
  #age = 0
  #random = 0x9e3779b9

  constructor(options: HotnessFilterOptions = {}) {
    this.#layout = toEntryLayout(options.bits)
    this.#offsets = Uint32Array.from({ length: 1 << this.#layout.fingerprintBits }, (_, f) => hashWord(f) | 1)
    this.requestsPerAge = options.requestsPerAge ?? 64
    this.#firstBits = toBucketBits(options.capacity ?? 1_024)
    const mostBits = toBucketBits(options.maxCapacity ?? 1 << 24)
    this.#mostBits = Math.max(this.#firstBits, Math.min(mostBits, this.#firstBits + placeBits))
    this.#bits = this.#firstBits
    this.#words = new Uint32Array(words << this.#bits)
  }

  /** Entries held. */
  get size(): number {
    return this.#size
  }

  /** The share of the room that is taken. */
  get load(): number {
    return this.#size / (slots << this.#bits)
  }

  get bytes(): number {
    return this.#words.byteLength + this.#offsets.byteLength
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
    if (found < 0) {
      const rest = (mostClock << clockShift) | (Math.min(times, mostFrequency) << frequencyShift)
      this.#insert(hash, this.#fingerprintOf(hash), rest | Math.min(depth, mostDepth))
      return
    }
    const entry = this.#words[found]!
    const frequency = Math.min(((entry >>> frequencyShift) & mostFrequency) + times, mostFrequency)
    const kept = entry & ~((mostClock << clockShift) | (mostFrequency << frequencyShift))
    this.#settle(found - (found % words))
    this.#words[found] = kept | (mostClock << clockShift) | (frequency << frequencyShift)
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
    const { mostDepth } = this.#layout
    return { clock: this.#clockAt(found), frequency: this.#frequencyAt(found), depth: this.#words[found]! & mostDepth }
  }

  /** How often it was asked for; 0 if never. */
  frequencyOf(hash: number): number {
    const found = this.#find(hash)
    return found < 0 ? 0 : this.#frequencyAt(found)
  }

  /** How recently it was asked for; 0 if not for a long time, or never. */
  clockOf(hash: number): number {
    const found = this.#find(hash)
    return found < 0 ? 0 : this.#clockAt(found)
  }

  /** A request has been processed. Returns whether all clocks have fallen by one: when a bucket is next written. O(1). */
  passRequest(): boolean {
    this.#requests += 1
    if (this.#requests % this.requestsPerAge !== 0) return false
    this.#age += 1
    return true
  }

  clear(): void {
    this.#words.fill(0)
    this.#size = 0
  }

  /** The word of the entry, −1 if there is none. */
  #find(hash: number): number {
    const fingerprint = this.#fingerprintOf(hash)
    const first = this.#findIn(hash, fingerprint)
    return first < 0 ? this.#findIn(hash ^ this.#offsets[fingerprint]!, fingerprint) : first
  }

  #findIn(place: number, fingerprint: number): number {
    const all = this.#words
    const shift = this.#layout.fingerprintShift
    const bucket = this.#bucketOf(place)
    for (let word = bucket; word < bucket + slots; word++) {
      const entry = all[word]!
      if (entry >>> shift !== fingerprint || entry === 0) continue
      if (this.#furtherPlace(bucket, word - bucket) === ((place >>> this.#firstBits) & 0xffff)) return word
    }
    return -1
  }

  #insert(place: number, fingerprint: number, rest: number): void {
    const entry = ((fingerprint << this.#layout.fingerprintShift) | rest) >>> 0
    this.#size += 1
    const other = place ^ this.#offsets[fingerprint]!
    const [own, others] = [this.#freeIn(place), this.#freeIn(other)]
    // into the emptier one: both fill alike, so less has to move later
    if (own > 0 || others > 0) this.#put(own >= others ? place : other, entry)
    else this.#kick(this.#draw() & 1 ? place : other, entry)
  }

  #freeIn(place: number): number {
    const all = this.#words
    const bucket = this.#bucketOf(place)
    return (
      Number(all[bucket] === 0) +
      Number(all[bucket + 1] === 0) +
      Number(all[bucket + 2] === 0) +
      Number(all[bucket + 3] === 0)
    )
  }

  /** Puts an entry in the place of another one, that one in its other bucket, and so on. */
  #kick(firstPlace: number, firstEntry: number): void {
    let place = firstPlace
    let entry = firstEntry
    for (let kicks = 0; kicks < mostKicks; kicks++) {
      const bucket = this.#bucketOf(place)
      this.#settle(bucket)
      const slot = this.#draw() % slots
      const moved = this.#words[bucket + slot]!
      const from = this.#placeAt(bucket, slot)
      this.#write(bucket, slot, place, entry)
      entry = moved
      place = from ^ this.#offsets[moved >>> this.#layout.fingerprintShift]!
      if (this.#put(place, entry)) return
    }
    if (this.#grow()) {
      if (!this.#put(place, entry)) this.#kick(place, entry)
    } else this.#dropColdest(place, entry)
  }

  /** Whether there was a free slot. The clock of the entry is as of now. */
  #put(place: number, entry: number): boolean {
    const all = this.#words
    const bucket = this.#bucketOf(place)
    for (let slot = 0; slot < slots; slot++) {
      if (all[bucket + slot] !== 0) continue
      this.#settle(bucket)
      this.#write(bucket, slot, place, entry)
      return true
    }
    return false
  }

  /** Of an entry and those of its two buckets, all but the coldest stay (Equation 6). */
  #dropColdest(place: number, entry: number): void {
    this.#size -= 1
    const offset = this.#offsets[entry >>> this.#layout.fingerprintShift]!
    let least = this.#hotnessOf(entry)
    let coldest: number | undefined
    let slot = 0
    for (const at of [place, place ^ offset]) {
      const bucket = this.#bucketOf(at)
      this.#settle(bucket)
      for (let other = 0; other < slots; other++) {
        const hotness = this.#hotnessOf(this.#words[bucket + other]!)
        // of equals one that was there goes: the new one has just been asked for
        if (hotness > least || (hotness === least && coldest !== undefined)) continue
        least = hotness
        coldest = at
        slot = other
      }
    }
    if (coldest !== undefined) this.#write(this.#bucketOf(coldest), slot, coldest, entry)
  }

  /** Doubles; returns false if it may not. An entry stays in its slot, in its bucket or in the new one behind it. */
  #grow(): boolean {
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

  /** Lets the clocks of a bucket fall to what they are now. */
  #settle(bucket: number): void {
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

  #clockAt(word: number): number {
    const { clockShift, mostClock } = this.#layout
    const fallen = this.#age - this.#words[word - (word % words) + ageWord]!
    return Math.max(0, ((this.#words[word]! >>> clockShift) & mostClock) - fallen)
  }

  #frequencyAt(word: number): number {
    return (this.#words[word]! >>> this.#layout.frequencyShift) & this.#layout.mostFrequency
  }

  /** Equation 6 of an entry whose bucket is settled. */
  #hotnessOf(entry: number): number {
    const { clockShift, frequencyShift, mostClock, mostFrequency } = this.#layout
    return ((entry >>> frequencyShift) & mostFrequency) * ((entry >>> clockShift) & mostClock)
  }

  #write(bucket: number, slot: number, place: number, entry: number): void {
    const word = bucket + placeWord + (slot >> 1)
    const shift = placeBits * (slot & 1)
    const further = ((place >>> this.#firstBits) & 0xffff) << shift
    this.#words[bucket + slot] = entry
    this.#words[word] = (this.#words[word]! & ~(0xffff << shift)) | further
  }

  #furtherPlace(bucket: number, slot: number): number {
    return (this.#words[bucket + placeWord + (slot >> 1)]! >>> (placeBits * (slot & 1))) & 0xffff
  }

  /** As many bits of an entry's place as buckets can ever need. */
  #placeAt(bucket: number, slot: number): number {
    const low = (bucket / words) & ((1 << this.#firstBits) - 1)
    return ((this.#furtherPlace(bucket, slot) << this.#firstBits) | low) >>> 0
  }

  #bucketOf(place: number): number {
    return (place & ((1 << this.#bits) - 1)) * words
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

/** Buckets for so many entries, as a power of two. */
function toBucketBits(entries: number): number {
  return Math.max(1, Math.ceil(Math.log2(entries / slots)))
}
