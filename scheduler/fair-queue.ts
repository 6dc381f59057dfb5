import { getOrMake } from '#index/get-or-make.ts'
import { IndexedHeap } from '#index/indexed-heap.ts'
import { type LruItem, LruList } from '#index/tree-cache/lru-list.ts'

/** A request in the fair queue. */
export interface FairRequest {
  readonly tenant: string
  /** prompt tokens that the engine has to prefill: all but those believed to be cached */
  readonly tokens: number
  /** lower runs sooner, within its tenant; default: 0 */
  readonly priority?: number
  /** when it expires, on the queue's clock */
  readonly deadline?: number
}

/** With these, nobody waits for more than a few short requests of another tenant, and large requests are not slowed. */
const fairQueueDefaults = {
  /** tokens that a tenant may run per turn */
  quantum: 1_024,
  /** the minimum cost of a request, in tokens: even a fully cached prompt takes engine time */
  leastCost: 256,
  /** the maximum cost of a request, in tokens, which bounds the number of rounds it waits */
  mostCost: 1_048_576,
  /** waiting this long counts as one step of priority */
  agingMilliseconds: 1_000,
}

/** Parameters of a fair queue. */
export type FairQueueOptions = typeof fairQueueDefaults

/** Priorities are clamped to ±100. By default 100 steps equal 100 s of waiting. */
const extremePriority = 100

interface Order {
  /** combines priority and arrival; all requests age equally, so the order of two never changes */
  readonly rank: number
  readonly sequence: number
}

interface Entry<T> extends Order {
  readonly request: T
  readonly tenant: Tenant<T>
  readonly cost: number
  readonly deadline: number
}

class Tenant<T> implements LruItem<Tenant<T>> {
  readonly name: string
  readonly waiting = new IndexedHeap<Entry<T>>(isSooner)
  /** tokens it may still run, including those left over from turns that were too short for its next request */
  deficit = 0
  older: Tenant<T> | undefined
  newer: Tenant<T> | undefined

  constructor(name: string) {
    this.name = name
  }
}

/**
 * Deficit round robin between tenants by prompt tokens (Shreedhar and Varghese 1995); by priority and age within a
 * tenant. If two tenants always have something waiting, the tokens served to them differ by less than the quantum plus
 * twice the largest request. Counted from when neither had a deficit saved, they differ by less than the quantum plus
 * the largest request. Pure and synchronous: time is an argument, from any monotonic clock in milliseconds. O(log n),
 * plus an amortised step per quantum of a request's tokens.
 */
export class FairQueue<T extends FairRequest> {
  readonly #options: FairQueueOptions
  readonly #entries = new Map<T, Entry<T>>()
  readonly #tenants = new Map<string, Tenant<T>>()
  /** the tenant whose turn it is comes first */
  readonly #round = new LruList<Tenant<T>>()
  readonly #deadlines = new IndexedHeap<Entry<T>>((a, b) => a.deadline < b.deadline)
  /** whether the tenant whose turn it is has received its quantum for this turn */
  #hasQuantum = false
  #sequence = 0

  constructor(options: Partial<FairQueueOptions> = {}) {
    this.#options = { ...fairQueueDefaults, ...options }
  }

  /** Number of waiting requests. */
  get depth(): number {
    return this.#entries.size
  }

  /** The earliest deadline of a waiting request; undefined if none has one. */
  get nextDeadline(): number | undefined {
    return this.#deadlines.first?.deadline
  }

  /** Adds a request, which must not be in the queue. */
  add(request: T, now: number): void {
    const { agingMilliseconds } = this.#options
    const priority = Math.max(-extremePriority, Math.min(extremePriority, request.priority ?? 0))
    const entry = {
      request,
      tenant: this.#tenantOf(request.tenant),
      cost: this.#costOf(request),
      rank: priority * agingMilliseconds + now,
      sequence: this.#sequence++,
      deadline: request.deadline ?? Number.POSITIVE_INFINITY,
    }
    this.#entries.set(request, entry)
    entry.tenant.waiting.add(entry)
    if (request.deadline !== undefined) this.#deadlines.add(entry)
  }

  /** Removes a request that is no longer wanted. Returns false if it is not waiting. */
  remove(request: T): boolean {
    const entry = this.#entries.get(request)
    if (entry) this.#drop(entry)
    return entry !== undefined
  }

  /** Removes and returns all expired requests, and up to `slots` others in the order to run them. */
  release(now: number, slots: number): { readonly run: T[]; readonly expired: T[] } {
    const expired: T[] = []
    for (let first = this.#deadlines.first; first && first.deadline <= now; first = this.#deadlines.first) {
      this.#drop(first)
      expired.push(first.request)
    }
    const run: T[] = []
    while (run.length < slots && this.depth > 0) run.push(this.#next())
    return { run, expired }
  }

  #next(): T {
    for (;;) {
      const tenant = this.#round.oldest!
      if (!this.#hasQuantum) tenant.deficit += this.#options.quantum
      this.#hasQuantum = true
      const first = tenant.waiting.first!
      if (first.cost <= tenant.deficit) {
        tenant.deficit -= first.cost
        this.#drop(first)
        return first.request
      }
      this.#round.remove(tenant)
      this.#round.append(tenant)
      this.#hasQuantum = false
    }
  }

  #drop(entry: Entry<T>): void {
    const { request, tenant } = entry
    this.#entries.delete(request)
    this.#deadlines.remove(entry)
    tenant.waiting.remove(entry)
    if (tenant.waiting.size > 0) return
    // a tenant with nothing waiting keeps no deficit, which would allow a burst later
    if (this.#round.oldest === tenant) this.#hasQuantum = false
    this.#round.remove(tenant)
    this.#tenants.delete(tenant.name)
  }

  #costOf({ tokens }: T): number {
    const { leastCost, mostCost } = this.#options
    // not Math.max: NaN must cost leastCost
    return tokens >= leastCost ? Math.min(tokens, mostCost) : leastCost
  }

  #tenantOf(name: string): Tenant<T> {
    return getOrMake(this.#tenants, name, () => {
      const tenant = new Tenant<T>(name)
      this.#round.append(tenant)
      return tenant
    })
  }
}

function isSooner(a: Order, b: Order): boolean {
  return a.rank < b.rank || (a.rank === b.rank && a.sequence < b.sequence)
}
