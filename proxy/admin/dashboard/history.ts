import type { Counts } from './read-counts.ts'

/** The counters at a moment, in milliseconds since 1970. */
export type Sample = Counts & { readonly at: number }

interface HistoryOptions {
  read(): Promise<Counts>
  /** milliseconds since 1970 */
  now(): number
  readonly intervalMilliseconds?: number
  /** samples kept; the oldest are dropped first */
  readonly capacity?: number
}

/** Samples of the counters over the last hour, in memory, for the dashboard. */
export class History {
  readonly #options: Required<HistoryOptions>
  readonly #samples: Sample[] = []
  #timer: NodeJS.Timeout | undefined

  constructor(options: HistoryOptions) {
    this.#options = { intervalMilliseconds: 10_000, capacity: 360, ...options }
  }

  get intervalMilliseconds(): number {
    return this.#options.intervalMilliseconds
  }

  /** Takes a sample now and at every interval, without keeping the process alive. */
  start(): void {
    // a failed sample only leaves a gap in a chart
    const sample = (): void => void this.sample().catch(() => {})
    sample()
    this.#timer = setInterval(sample, this.intervalMilliseconds).unref()
  }

  close(): void {
    clearInterval(this.#timer)
  }

  /** Stores a sample of the counters. If the clock has jumped back, drops samples with a later time. */
  async sample(): Promise<void> {
    const sample = await this.#take()
    while (this.#samples.length > 0 && this.#samples.at(-1)!.at >= sample.at) this.#samples.pop()
    this.#samples.push(sample)
    if (this.#samples.length > this.#options.capacity) this.#samples.shift()
  }

  /** The stored samples, oldest first, and a current one. */
  async samples(): Promise<Sample[]> {
    const current = await this.#take()
    return [...this.#samples.filter(({ at }) => at < current.at), current]
  }

  async #take(): Promise<Sample> {
    const counts = await this.#options.read()
    return { at: this.#options.now(), ...counts }
  }
}
