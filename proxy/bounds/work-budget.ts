import { tooLarge } from './work-limits.ts'

/** A request is given up because it takes too long. */
export class OverBudget extends Error {
  constructor() {
    super(tooLarge)
  }
}

/** Looking at the clock for every text would cost more than most texts do. */
const checksPerLook = 16

/** The time that one request may take to be decided upon. */
export class WorkBudget {
  readonly #until: number
  readonly #now: () => number
  #checks = 0

  /** `now`: milliseconds, monotonic. */
  constructor(milliseconds: number, now: () => number) {
    this.#now = now
    this.#until = now() + milliseconds
  }

  /** Throws OverBudget when the time is up. */
  check(): void {
    this.#checks += 1
    if (this.#checks % checksPerLook === 0) this.look()
  }

  /** The same, at once. */
  look(): void {
    if (this.#now() > this.#until) throw new OverBudget()
  }
}
