import { IndexedHeap } from './indexed-heap.ts'
import { Ring } from './ring.ts'

/** A request that waits for its turn among those of all tenants. */
export interface FairRequest {
  readonly tenant: string
  /** prompt tokens that the engine will have to prefill for it */
  readonly tokens: number
  /** lower runs sooner, within its tenant; 0 when it does not say */
  readonly priority?: number
  /** when it is no longer wanted, on the queue's clock */
  readonly deadline?: number
}

/** How a fair queue shares. */
export interface FairQueueOptions {
  /** tokens that a tenant may run in one turn */
  readonly quantum: number
  /** the least a request counts as, in tokens: what is cached whole still takes the engine's time */
  readonly leastCost: number
  /** the most a request counts as, in tokens: bounds the rounds it waits for */
  readonly mostCost: number
  /** waiting for so long weighs as much as one step of priority */
  readonly agingMilliseconds: number
}

/** Sharing by which nobody waits for more than a few short requests of another tenant, and large ones go on as fast. */
export const fairQueueDefaults: FairQueueOptions = {
  quantum: 1_024,
  leastCost: 256,
  mostCost: 1 << 20,
  agingMilliseconds: 1_000,
}

/** Priorities beyond this count as this: 100 steps are 100 s of waiting, by default. */
const extremePriority = 100

interface Order {
  /** priority and arrival in one: as all age alike, the order of two never changes */
  readonly rank: number
  readonly sequence: number
}

interface Entry<T> extends Order {
  readonly request: T
  readonly tenant: Tenant<T>
  readonly cost: number
  readonly deadline: number
}

interface Tenant<T> {
  readonly name: string
  readonly waiting: IndexedHeap<Entry<T>>
  /** tokens it may still run in this turn, saved from turns that were too short for its next request */
  deficit: number
}

/**
 * Deficit round robin between tenants by prompt tokens (Shreedhar and Varghese 1995), by priority and age within one.
 * Of two tenants that both always had something waiting, neither is ever served more tokens than the other by as much as
 * the quantum plus twice the largest request, or plus it once if counted from when neither had anything saved. Pure
 * and synchronous: time is an argument, any monotonic clock in milliseconds. O(log n), and amortised one step per
 * quantum of a request's tokens.
 */
export class FairQueue<T extends FairRequest> {
  readonly #options: FairQueueOptions
  readonly #entries = new Map<T, Entry<T>>()
  readonly #tenants = new Map<string, Tenant<T>>()
  readonly #round = new Ring<Tenant<T>>()
  readonly #deadlines = new IndexedHeap<Entry<T>>((a, b) => a.deadline < b.deadline)
  /** whether the tenant whose turn it is has been given its quantum */
  #hasQuantum = false
  #sequence = 0

  constructor(options: Partial<FairQueueOptions> = {}) {
    this.#options = { ...fairQueueDefaults, ...options }
  }

  /** How many requests wait. */
  get depth(): number {
    return this.#entries.size
  }

  /** The next time at which a request is no longer wanted. */
  get nextDeadline(): number | undefined {
    return this.#deadlines.first?.deadline
  }

  /** Takes a request in; no request may be in it twice. */
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

  /** Takes a request out that is no longer wanted; false when it is not waiting. */
  remove(request: T): boolean {
    const entry = this.#entries.get(request)
    if (entry) this.#drop(entry)
    return entry !== undefined
  }

  /** What leaves now: all whose deadline has come, and as many others as there are slots, in the order to run them. */
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
      const tenant = this.#round.head!
      if (!this.#hasQuantum) tenant.deficit += this.#options.quantum
      this.#hasQuantum = true
      const first = tenant.waiting.first!
      if (first.cost <= tenant.deficit) {
        tenant.deficit -= first.cost
        this.#drop(first)
        return first.request
      }
      this.#round.turn()
      this.#hasQuantum = false
    }
  }

  #drop(entry: Entry<T>): void {
    const { request, tenant } = entry
    this.#entries.delete(request)
    this.#deadlines.remove(entry)
    tenant.waiting.remove(entry)
    if (tenant.waiting.size > 0) return
    // who has nothing waiting saves nothing: it would be a burst later
    if (this.#round.head === tenant) this.#hasQuantum = false
    this.#round.remove(tenant)
    this.#tenants.delete(tenant.name)
  }

  #costOf({ tokens }: T): number {
    const { leastCost, mostCost } = this.#options
    // not Math.max: what is no number must not be charged as one
    return tokens >= leastCost ? Math.min(tokens, mostCost) : leastCost
  }

  #tenantOf(name: string): Tenant<T> {
    let tenant = this.#tenants.get(name)
    if (!tenant) {
      tenant = { name, waiting: new IndexedHeap<Entry<T>>(isSooner), deficit: 0 }
      this.#tenants.set(name, tenant)
      this.#round.add(tenant)
    }
    return tenant
  }
}

function isSooner(a: Order, b: Order): boolean {
  return a.rank < b.rank || (a.rank === b.rank && a.sequence < b.sequence)
}
