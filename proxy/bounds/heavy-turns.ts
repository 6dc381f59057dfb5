import { setTimeout as delay, setImmediate as untilServed } from 'node:timers/promises'

/** Work of fewer milliseconds needs no pause behind it. */
const unnoticedMilliseconds = 1

/**
 * Lets one piece of heavy work run at a time. Behind each, the event loop serves what has come meanwhile, and stays free
 * for as long as the piece took: other requests meet one piece on their way, not a queue of them.
 */
export class HeavyTurns {
  #last: Promise<void> = Promise.resolve()

  /** Resolves when a piece may run: synchronously, from there to the caller's next await. First come, first served. */
  take(): Promise<void> {
    const mine = this.#last
    this.#last = mine.then(rest)
    return mine
  }
}

/** Begins before the piece does, and ends as long behind it as it took. */
async function rest(): Promise<void> {
  const begun = performance.now()
  await untilServed()
  const spent = performance.now() - begun
  if (spent > unnoticedMilliseconds) await delay(spent)
}
