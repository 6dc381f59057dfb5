import type { HotPolicy } from './eviction-policy.ts'

/** Maximum number of prefixes in each of two generations. */
const mostPrefixes = 1 << 17

interface Heat {
  frequency: number
  /** age in which it was last requested */
  age: number
}

/**
 * How often and how recently prefixes were requested, as an engine that evicts by hotness counts it. Evicted prefixes
 * are included. Memory is bounded: when the newer of two generations is full, the older one is dropped.
 */
export class PrefixHeat {
  readonly #policy: HotPolicy
  #recent = new Map<number, Heat>()
  #older = new Map<number, Heat>()
  #requests = 0

  constructor(policy: HotPolicy) {
    this.#policy = policy
  }

  /** Increases by one whenever all clocks fall. */
  get age(): number {
    return Math.floor(this.#requests / this.#policy.requestsPerAge)
  }

  use(prefix: number): void {
    const heat = this.#heatOf(prefix) ?? { frequency: 0, age: 0 }
    heat.frequency += 1
    heat.age = this.age
    this.#keep(prefix, heat)
  }

  /** Gives `prefix`, which was cut off `from`, the age of `from` and the frequency `uses`, unless its heat is known. */
  adopt(prefix: number, from: number, uses: number): void {
    const known = this.#heatOf(from)
    if (known && !this.#heatOf(prefix)) this.#keep(prefix, { frequency: uses, age: known.age })
  }

  passRequest(): void {
    this.#requests += 1
  }

  /** Returns the priority of a prefix of `length` tokens; the lowest is evicted first. */
  priorityOf(prefix: number, length: number): number {
    const { frequency = 0, age = Number.NEGATIVE_INFINITY } = this.#heatOf(prefix) ?? {}
    const clock = Math.max(0, this.#policy.maxAge - (this.age - age))
    return this.#policy.priority({ clock, frequency, length })
  }

  #heatOf(prefix: number): Heat | undefined {
    return this.#recent.get(prefix) ?? this.#older.get(prefix)
  }

  #keep(prefix: number, heat: Heat): void {
    if (this.#recent.size >= mostPrefixes) {
      this.#older = this.#recent
      this.#recent = new Map()
    }
    this.#recent.set(prefix, heat)
  }
}
