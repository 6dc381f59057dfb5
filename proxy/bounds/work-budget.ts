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
  readonly #isHard: boolean
  #checks = 0
  #isSpent = false

  /** `now`: milliseconds, monotonic. `isHard`: a request that exceeds it is given up; else it is finished with less done. */
  constructor(milliseconds: number, now: () => number, isHard: boolean) {
    this.#now = now
    this.#until = now() + milliseconds
    this.#isHard = isHard
  }

  /** Whether the time was up when it was last looked at: what can be left out is left out from then on. */
  get isSpent(): boolean {
    return this.#isSpent
  }

  /** Notes whether the time is up; throws OverBudget then, if it is hard. */
  check(): void {
    this.#checks += 1
    if (this.#checks % checksPerLook === 0) this.look()
  }

  /** The same, at once. */
  look(): void {
    this.#isSpent ||= this.#now() > this.#until
    if (this.#isSpent && this.#isHard) throw new OverBudget()
  }
}
