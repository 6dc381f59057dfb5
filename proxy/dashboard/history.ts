import type { Bucket } from './latencies.ts'

/** How the counters stood at one moment. All but the last two only ever grow. */
export interface Counts {
  readonly requests: number
  readonly promptTokens: number
  readonly cachedTokens: number
  /** taken over from another position as they were, and computed again */
  readonly reusedTokens: number
  readonly recomputedTokens: number
  /** of the prompts whose tokens are counted */
  readonly predictedCachedTokens: number
  /** without our work; in shadow mode: with it */
  readonly baselineCachedTokens: number
  readonly shadowCachedTokens: number
  readonly seenTokens: number
  /** of decode steps that were asked to read fewer pages: those read, all there were, times chosen, times in doubt */
  readonly listedPages: number
  readonly allPages: number
  readonly pageChoices: number
  readonly pageBacktracks: number
  /** seconds spent by reprise itself, and the requests they were spent on */
  readonly overheadSeconds: number
  readonly decided: number
  /** seconds until answers began, and how many began */
  readonly firstByteSeconds: number
  readonly answered: number
  /** the same two by how long they took */
  readonly overheadBuckets: readonly Bucket[]
  readonly firstByteBuckets: readonly Bucket[]
  readonly queueDepth: number
  readonly inFlight: number
}

/** The counters at a moment, in milliseconds since 1970. */
export interface Sample extends Counts {
  readonly at: number
}

export interface HistoryOptions {
  /** how the counters stand */
  readonly read: () => Promise<Counts>
  /** milliseconds since 1970 */
  readonly now: () => number
  readonly intervalMilliseconds?: number
  /** samples kept; the oldest go first */
  readonly capacity?: number
}

/** What the counters were over the last hour, in memory: the dashboard's past. */
export class History {
  readonly intervalMilliseconds: number
  readonly #read: () => Promise<Counts>
  readonly #now: () => number
  readonly #capacity: number
  readonly #samples: Sample[] = []
  #timer: NodeJS.Timeout | undefined

  constructor({ read, now, intervalMilliseconds = 10_000, capacity = 360 }: HistoryOptions) {
    this.intervalMilliseconds = intervalMilliseconds
    this.#read = read
    this.#now = now
    this.#capacity = capacity
  }

  /** Takes a sample now and at every interval, without keeping the process alive. */
  start(): void {
    // a sample that could not be taken is missing in a chart, and nothing else
    const sample = (): void => void this.sample().catch(() => {})
    sample()
    this.#timer = setInterval(sample, this.intervalMilliseconds).unref()
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  /** Keeps how the counters stand; after a jump of the clock to the past, nothing is kept from its future. */
  async sample(): Promise<void> {
    const sample = await this.#take()
    while (this.#samples.length > 0 && this.#samples.at(-1)!.at >= sample.at) this.#samples.pop()
    this.#samples.push(sample)
    if (this.#samples.length > this.#capacity) this.#samples.shift()
  }

  /** The samples kept, oldest first, and how the counters stand at this moment. */
  async samples(): Promise<Sample[]> {
    const current = await this.#take()
    return [...this.#samples.filter(({ at }) => at < current.at), current]
  }

  async #take(): Promise<Sample> {
    const counts = await this.#read()
    return { at: this.#now(), ...counts }
  }
}
