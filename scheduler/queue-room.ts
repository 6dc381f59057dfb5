/**
 * The room of a queue, shared between tenants: a tenant may take a place as long as it holds fewer than are still free.
 * So one tenant alone fills half of the queue at most, n of them an (n + 1)-th each, and whoever comes anew finds a
 * place unless the queue is full of many (dynamic thresholds, Choudhury and Hahne 1998). O(1).
 */
export class QueueRoom {
  readonly #held = new Map<string, number>()
  #capacity: number
  #taken = 0

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  /** How many places are taken. */
  get taken(): number {
    return this.#taken
  }

  /** Changes how many places there are; who is in it stays, even if that is too many. */
  resize(capacity: number): void {
    this.#capacity = capacity
  }

  /** Takes a place for a tenant; false when it may have none. */
  take(tenant: string): boolean {
    const held = this.#held.get(tenant) ?? 0
    if (held >= this.#capacity - this.#taken) return false
    this.#held.set(tenant, held + 1)
    this.#taken += 1
    return true
  }

  /** Gives back a place that was taken. */
  give(tenant: string): void {
    const held = this.#held.get(tenant) ?? 0
    if (held === 0) return
    if (held === 1) this.#held.delete(tenant)
    else this.#held.set(tenant, held - 1)
    this.#taken -= 1
  }
}
