/** Limits for reading and rewriting one request. A request beyond them is forwarded as received. */
export interface WorkLimits {
  /** size of the body */
  readonly bytes: number
  /** messages, or texts in them */
  readonly texts: number
  /** time for deciding about it, once its blocks are found */
  readonly milliseconds: number
}

export const usualLimits: WorkLimits = { bytes: 8 * 1024 * 1024, texts: 2_048, milliseconds: 30 }

/** The reason for forwarding a request as received because rewriting takes longer than other requests can wait. */
export const tooLarge = 'too_large_to_rewrite'

/** The most of a body's parts. JSON.parse and what follows take microseconds for each of these, regardless of size. */
export const most = {
  containers: 10_000,
  strings: 60_000,
  /** Numbers take less: a million of them, as in a prompt of token ids, take 50 ms. */
  commas: 150_000,
  /** No real request is nested this deeply, and JSON.parse takes 20 times as long for one that is. */
  depth: 500,
  /** Line breaks and `<` of bodies that are not light, each of which may start a block: as many as a million tokens of prose have. */
  marks: 60_000,
} as const

/**
 * A body within both limits mostly takes milliseconds. It starts without waiting for a turn, and is never given up as
 * too slow.
 */
export const lightBytes: number = 256 * 1024
export const lightContainers = 512
/** The most blocks of a request that is never given up. */
export const lightBlocks = 2_048

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
