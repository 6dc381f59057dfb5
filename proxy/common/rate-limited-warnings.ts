/** Writes a warning. The message is its kind; the details say more. */
export type Warn = (details: Readonly<Record<string, unknown>>, message: string) => void

const betweenMilliseconds = 5_000

/** When a kind was last logged, and what has been withheld since. */
interface Logged {
  at: number
  count: number
  latest: Readonly<Record<string, unknown>>
}

/** Logs a new kind of warning at once, and repeated ones as one line every few seconds. */
export class RateLimitedWarnings {
  readonly #warn: Warn
  readonly #now: () => number
  readonly #kinds = new Map<string, Logged>()

  /** `now`: milliseconds, monotonic. Each message is a kind: use few different ones. */
  constructor(warn: Warn, now: () => number) {
    this.#warn = warn
    this.#now = now
  }

  /** Warns now, or counts it for a later line. */
  warn(details: Readonly<Record<string, unknown>>, message: string): void {
    const logged = this.#kinds.get(message)
    if (logged) {
      logged.count += 1
      logged.latest = details
      return
    }
    this.#kinds.set(message, { at: this.#now(), count: 0, latest: details })
    this.#warn(details, message)
  }

  /** Logs the counted warnings whose interval has passed. Must be called regularly. */
  flush(): void {
    const now = this.#now()
    for (const [message, logged] of this.#kinds) {
      if (now - logged.at < betweenMilliseconds) continue
      const { count, latest } = logged
      this.#kinds.delete(message)
      if (count === 0) continue
      this.#kinds.set(message, { at: now, count: 0, latest })
      this.#warn({ ...latest, count }, message)
    }
  }
}
