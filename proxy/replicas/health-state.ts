/** How many checks in a row it takes to change one's mind about a replica. */
export interface HealthOptions {
  readonly unhealthyAfter: number
  readonly healthyAfter: number
}

/** One lost check, or one answer between failures, changes nothing. */
export const healthDefaults: HealthOptions = { unhealthyAfter: 3, healthyAfter: 2 }

/** Whether a replica is healthy by its latest checks; taken to be until they say otherwise. */
export class HealthState {
  readonly #options: HealthOptions
  #isHealthy = true
  /** checks in a row that contradict it */
  #against = 0

  constructor(options: Partial<HealthOptions> = {}) {
    this.#options = { ...healthDefaults, ...options }
  }

  /** What the checks so far say. */
  get isHealthy(): boolean {
    return this.#isHealthy
  }

  /** A check has been answered, or has failed. */
  note(isAlive: boolean): void {
    this.#against = isAlive === this.#isHealthy ? 0 : this.#against + 1
    const { unhealthyAfter, healthyAfter } = this.#options
    if (this.#against < (this.#isHealthy ? unhealthyAfter : healthyAfter)) return
    this.#isHealthy = isAlive
    this.#against = 0
  }
}
