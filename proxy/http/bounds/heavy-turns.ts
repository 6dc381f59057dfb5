import { setTimeout as delay, setImmediate as untilServed } from 'node:timers/promises'

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
  await untilServed()
  const spent = performance.now() - begun
  if (spent > unnoticedMilliseconds) await delay(spent)
}
