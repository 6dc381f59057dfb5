/** How many consecutive checks change the state of a replica. */
interface HealthOptions {
  readonly unhealthyAfter: number
  readonly healthyAfter: number
}

/** Defaults: one lost check, or one answer between failures, changes nothing. */
const healthDefaults: HealthOptions = { unhealthyAfter: 3, healthyAfter: 2 }

/** Whether a replica is healthy according to its latest checks. Starts as healthy. */
export class HealthState {
  readonly #options: HealthOptions
  #isHealthy = true
  /** consecutive checks that contradict the state */
  #against = 0

  constructor(options: Partial<HealthOptions> = {}) {
    this.#options = { ...healthDefaults, ...options }
  }

  /** The result of the checks so far. */
  get isHealthy(): boolean {
    return this.#isHealthy
  }

  /** Notes the result of a check. */
  note(isAlive: boolean): void {
    this.#against = isAlive === this.#isHealthy ? 0 : this.#against + 1
    const { unhealthyAfter, healthyAfter } = this.#options
    if (this.#against < (this.#isHealthy ? unhealthyAfter : healthyAfter)) return
    this.#isHealthy = isAlive
    this.#against = 0
  }
}
