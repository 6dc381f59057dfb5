/** Writes a warning: what is to be said of it, and its kind in words. */
export type Warn = (details: Readonly<Record<string, unknown>>, message: string) => void

const betweenMilliseconds = 5_000

/** What was said of a kind last, and what was not said since. */
interface Told {
  at: number
  count: number
  latest: Readonly<Record<string, unknown>>
}

/** Warns at once of what has not been seen for a while, and of what comes again and again in one line every few seconds. */
export class SeldomWarnings {
  readonly #warn: Warn
  readonly #now: () => number
  readonly #kinds = new Map<string, Told>()

  /** `now`: milliseconds, monotonic. Messages are kinds: let there be few. */
  constructor(warn: Warn, now: () => number) {
    this.#warn = warn
    this.#now = now
  }

  /** Warns now, or counts it for a later line. */
  warn(details: Readonly<Record<string, unknown>>, message: string): void {
    const told = this.#kinds.get(message)
    if (told) {
      told.count += 1
      told.latest = details
      return
    }
    this.#kinds.set(message, { at: this.#now(), count: 0, latest: details })
    this.#warn(details, message)
  }

  /** Tells what was only counted, where that is long enough ago; to be called all the time. */
  flush(): void {
    const now = this.#now()
    for (const [message, told] of this.#kinds) {
      if (now - told.at < betweenMilliseconds) continue
      const { count, latest } = told
      if (count === 0) {
        this.#kinds.delete(message)
        continue
      }
      this.#kinds.set(message, { at: now, count: 0, latest })
      this.#warn({ ...latest, count }, message)
    }
  }
}
