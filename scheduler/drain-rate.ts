/** What left longer ago than this counts for little. */
const memoryMilliseconds = 10_000
/** Until more is known, one request is taken to leave in a second. */
const prior = { requests: 1, milliseconds: 1_000 }

/** How fast waiting requests have been leaving lately. Time is an argument: any monotonic clock in milliseconds. */
export class DrainRate {
  #requests = prior.requests
  #milliseconds = prior.milliseconds
  #updated = 0

  /** Something waits again: the time in which nothing did says nothing about the rate. */
  resume(now: number): void {
    this.#updated = now
  }

  /** So many requests have left at this time. */
  note(requests: number, now: number): void {
    this.#fade(now)
    this.#requests += requests
  }

  /** How long so many requests will take to leave, in milliseconds. */
  timeFor(requests: number, now: number): number {
    this.#fade(now)
    return (requests * this.#milliseconds) / this.#requests
  }

  /** Both what left and the time it took fade alike: their ratio is the rate from the first moment on. */
  #fade(now: number): void {
    const elapsed = Math.max(0, now - this.#updated)
    this.#updated = now
    const kept = Math.exp(-elapsed / memoryMilliseconds)
    this.#requests *= kept
    this.#milliseconds = this.#milliseconds * kept + memoryMilliseconds * (1 - kept)
  }
}
