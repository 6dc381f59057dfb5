/**
 * The places of a queue, shared between tenants. A tenant may take a place if it holds fewer places than are free
 * (dynamic thresholds, Choudhury and Hahne 1998). So a single tenant fills at most half of the queue, and n tenants
 * fill 1 / (n + 1) each. A new tenant finds a place unless many others fill the queue. O(1).
 */
export class QueueRoom {
  readonly #held = new Map<string, number>()
  readonly #capacity: number
  /** number of places taken */
  taken = 0

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  /** Takes a place for a tenant. Returns false if it may not have one. */
  take(tenant: string): boolean {
    const held = this.#held.get(tenant) ?? 0
    if (held >= this.#capacity - this.taken) return false
    this.#held.set(tenant, held + 1)
    this.taken += 1
    return true
  }

  /** Returns a tenant's place. */
  give(tenant: string): void {
    const held = this.#held.get(tenant) ?? 0
    if (held === 0) return
    if (held === 1) this.#held.delete(tenant)
    else this.#held.set(tenant, held - 1)
    this.taken -= 1
  }
}
