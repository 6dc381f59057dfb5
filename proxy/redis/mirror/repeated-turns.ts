import { setTimeout as pause } from 'node:timers/promises'

interface RepeatedTurnsOptions {
  /** Returns whether everything was done. */
  readonly turn: () => Promise<boolean>
  /** Turns are skipped while this returns false. */
  readonly canTake: () => boolean
  /** Called with what a turn threw. */
  readonly onError: (error: unknown) => void
  readonly pollMilliseconds?: number | undefined
  /** how long the next turn waits after one that threw */
  readonly faultMilliseconds?: number | undefined
}

const defaultPollMilliseconds = 40
const retryMilliseconds = 250
/** A turn that throws may throw each time, and each may have loaded a whole mirror. */
const defaultFaultMilliseconds = 5_000

/** Runs one turn after another until it is stopped. A turn that throws does not end it. */
export class RepeatedTurns {
  readonly #options: RepeatedTurnsOptions
  readonly #closing = new AbortController()
  #running: Promise<void> | undefined

  constructor(options: RepeatedTurnsOptions) {
    this.#options = options
  }

  get isRunning(): boolean {
    return this.#running !== undefined
  }

  /** Starts at once. Returns a promise that resolves after the first turn; it never rejects. */
  start(): Promise<void> {
    const first = this.#options.canTake() ? this.#take() : Promise.resolve(0)
    this.#running = first.then((wait) => this.#run(wait))
    return first.then(() => {})
  }

  /** Stops. Resolves after the turn in progress. */
  async stop(): Promise<void> {
    this.#closing.abort()
    await this.#running
  }

  async #run(firstWait: number): Promise<void> {
    const { canTake, pollMilliseconds = defaultPollMilliseconds } = this.#options
    for (let wait = firstWait; !this.#closing.signal.aborted; ) {
      await this.#pause(wait + pollMilliseconds)
      if (this.#closing.signal.aborted) return
      wait = canTake() ? await this.#take() : 0
    }
  }

  /** Returns how long the next turn should wait. */
  async #take(): Promise<number> {
    try {
      return (await this.#options.turn()) ? 0 : retryMilliseconds
    } catch (error) {
      this.#options.onError(error)
      return this.#options.faultMilliseconds ?? defaultFaultMilliseconds
    }
  }

  async #pause(milliseconds: number): Promise<void> {
    await pause(milliseconds, undefined, { signal: this.#closing.signal, ref: false }).catch(() => {})
  }
}
