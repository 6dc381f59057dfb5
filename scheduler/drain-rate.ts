/** Time constant: departures longer ago than this count little. */
const memoryMilliseconds = 10_000
/** Until more is known, assume that one request leaves per second. */
const prior = { requests: 1, milliseconds: 1_000 }

/** How fast waiting requests have been leaving lately. Time is an argument: any monotonic clock in milliseconds. */
export class DrainRate {
  #requests = prior.requests
  #milliseconds = prior.milliseconds
  #updated = 0

  /** Call when something waits again: the time in which nothing waited must not affect the rate. */
  resume(now: number): void {
    this.#updated = now
  }

  /** Records that `requests` have left at time `now`. */
  note(requests: number, now: number): void {
    this.#fade(now)
    this.#requests += requests
  }

  /** Estimates how long `requests` will take to leave, in milliseconds. */
  timeFor(requests: number, now: number): number {
    this.#fade(now)
    return (requests * this.#milliseconds) / this.#requests
  }

  /** Decays the departures and the elapsed time equally, so that their ratio is the rate from the start. */
  #fade(now: number): void {
    const elapsed = Math.max(0, now - this.#updated)
    this.#updated = now
    const kept = Math.exp(-elapsed / memoryMilliseconds)
    this.#requests *= kept
    this.#milliseconds = this.#milliseconds * kept + memoryMilliseconds * (1 - kept)
  }
}
