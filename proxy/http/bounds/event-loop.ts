import { setImmediate as afterIo, setTimeout as delay } from 'node:timers/promises'

/** Shorter work needs no pause after it. */
const unnoticedMilliseconds = 1

/**
 * Lets one piece of heavy work run at a time. After each piece, the event loop serves what has arrived meanwhile, and
 * stays free as long as the piece took. So other requests wait for one piece, not for a queue of them.
 */
export class HeavyTurns {
  #last: Promise<void> = Promise.resolve()

  /** Resolves when a piece may run, synchronously until the caller's next await. First come, first served. */
  take(): Promise<void> {
    const mine = this.#last
    this.#last = mine.then(rest)
    return mine
  }
}

/** Starts before the piece, measures it, and resolves after a pause of the same length. */
async function rest(): Promise<void> {
  const begun = performance.now()
  await afterIo()
  const spent = performance.now() - begun
  if (spent > unnoticedMilliseconds) await delay(spent)
}

/**
 * How long a task holds the event loop while it is idle. Short, because a request takes several turns of the loop and
 * may wait for a slice in each: beside the load of 30,000 requests from Redis, six turns took 43 ms (median, on two
 * busy cores) with slices of 4 ms, and 3 ms with these. The load took as long with either.
 */
const sliceMilliseconds = 0.3
const longestSliceMilliseconds = 4
/** If a turn of the event loop takes longer, other work was done in it. */
const idleTurnMilliseconds = 0.05
/** The longest time that requests may delay a slice of a patient task, so that they never starve it. */
const waitMilliseconds = 2

/**
 * Lets other work run during a long task. Of a task that must keep up, such as following what other proxies write, a
 * slice is as long as the turn of the event loop before it, so that the task gets half of a busy loop. A patient task
 * has short slices, and waits for each until the loop is idle.
 */
export class TimeSlices {
  readonly #isPatient: boolean
  #since = performance.now()
  #length = sliceMilliseconds

  constructor({ isPatient = false }: { readonly isPatient?: boolean } = {}) {
    this.#isPatient = isPatient
  }

  /** Whether it is time to `pass`. */
  get isOver(): boolean {
    return performance.now() - this.#since > this.#length
  }

  /** Yields to the event loop. Resolves after other pending work. */
  async pass(): Promise<void> {
    const left = performance.now()
    let turn = left
    let isBusy = true
    while (isBusy) {
      await afterIo()
      const now = performance.now()
      isBusy = this.#isPatient && now - turn >= idleTurnMilliseconds && now - left <= waitMilliseconds
      turn = now
    }
    this.#since = turn
    if (!this.#isPatient) this.#length = Math.min(Math.max(turn - left, sliceMilliseconds), longestSliceMilliseconds)
  }

  /** Calls `act` with each item, and yields in between. Rejects with the first error. */
  static each<T>(items: Iterable<T>, act: (item: T) => void): Promise<void> {
    return walk(items, act, new TimeSlices(), 1)
  }
}

/** A patient task of fewer items than these is done at once. */
const itemsPerLook = 8

/** Calls `act` with each item of a patient task. Rejects with the first error. */
export function inSlices<T>(items: Iterable<T>, act: (item: T) => void): Promise<void> {
  return walk(items, act, new TimeSlices({ isPatient: true }), itemsPerLook)
}

async function walk<T>(items: Iterable<T>, act: (item: T) => void, slices: TimeSlices, each: number): Promise<void> {
  let done = 0
  for (const item of items) {
    act(item)
    done += 1
    if (done % each === 0 && slices.isOver) await slices.pass()
  }
}
