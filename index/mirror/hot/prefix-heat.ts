import type { HotPolicy } from './eviction-policy.ts'

/** Prefixes in each of two generations. */
const mostPrefixes = 1 << 17

interface Heat {
  frequency: number
  /** in which age it was last asked for */
  age: number
}

/**
 * How often prefixes were asked for, and how long ago, as an engine that evicts by hotness counts it: those that were
 * evicted included. Bounded: of two generations the older one is forgotten when the newer one is full.
 */
export class PrefixHeat {
  readonly #policy: HotPolicy
  #recent = new Map<number, Heat>()
  #older = new Map<number, Heat>()
  #requests = 0

  constructor(policy: HotPolicy) {
    this.#policy = policy
  }

  /** Rises when all clocks fall. */
  get age(): number {
    return Math.floor(this.#requests / this.#policy.requestsPerAge)
  }

  use(prefix: number): void {
    const heat = this.#heatOf(prefix) ?? { frequency: 0, age: 0 }
    heat.frequency += 1
    heat.age = this.age
    this.#keep(prefix, heat)
  }

  /** A prefix was asked for as the longer one was that it is a part of, `uses` times for sure, if it was not by itself. */
  adopt(prefix: number, from: number, uses: number): void {
    const known = this.#heatOf(from)
    if (known && !this.#heatOf(prefix)) this.#keep(prefix, { frequency: uses, age: known.age })
  }

  passRequest(): void {
    this.#requests += 1
  }

  /** The lowest is evicted first; of so many tokens. */
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
