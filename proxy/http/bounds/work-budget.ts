import { tooLarge } from './work-limits.ts'

/** Thrown to give up a request that takes too long. */
export class OverBudget extends Error {
  constructor() {
    super(tooLarge)
  }
}

/** Reading the clock for every text would cost more than most texts do. */
const checksPerLook = 16

/** The time allowed for deciding about one request. */
export class WorkBudget {
  readonly #until: number
  readonly #now: () => number
  readonly #isHard: boolean
  #checks = 0
  #isSpent = false

  /** `now`: milliseconds, monotonic. `isHard`: give up a request that exceeds it, instead of doing less for it. */
  constructor(milliseconds: number, now: () => number, isHard: boolean) {
    this.#now = now
    this.#until = now() + milliseconds
    this.#isHard = isHard
  }

  /** Whether the time was up at the last check. From then on optional work should be skipped. */
  get isSpent(): boolean {
    return this.#isSpent
  }

  /** Checks, on every sixteenth call, whether the time is up. Throws OverBudget if it is and the budget is hard. */
  check(): void {
    this.#checks += 1
    if (this.#checks % checksPerLook === 0) this.look()
  }

  /** Does the same immediately. */
  look(): void {
    this.#isSpent ||= this.#now() > this.#until
    if (this.#isSpent && this.#isHard) throw new OverBudget()
  }
}
