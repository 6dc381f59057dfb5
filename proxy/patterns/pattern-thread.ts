import { Worker } from 'node:worker_threads'
import type { CompiledPattern } from './block-pattern.ts'
import type { MatchSpans } from './read-matches.ts'

/** Why a thread gave no matches. */
type ThreadFault = 'timeout' | 'failed'

/** What a thread found in some texts. */
interface ThreadMatches {
  /** by requested pattern, then by text */
  readonly found: readonly (readonly MatchSpans[])[]
  /** the indices of the patterns that were stopped in a text, and found nothing there */
  readonly timedOut: readonly number[]
}

/** What a thread found in some texts, or what went wrong. */
export type ThreadAnswer = ThreadMatches | ThreadFailure

/** A lost thread, and the index of the pattern it was lost in. */
export interface ThreadFailure {
  readonly fault: ThreadFault
  readonly pattern: number | undefined
}

/** How long a run may take, and whether it is stopped in time or the thread is lost. */
interface RunLimits {
  readonly limitMs: number
  readonly isGuarded: boolean
}

// a longer list of blocks counts as none, and its spans would be costly to hand over
const MOST_MATCHES = 10_000
// a new thread needs some 40 ms; on a busy machine much more
const START_LIMIT_MS = 5_000

// progress of a thread that is not running a pattern
const NOTHING_YET = -1
const ALL_DONE = -2

/** One worker that runs patterns, one job at a time; after a failure it cannot be used again. */
export class PatternThread {
  readonly #worker: Worker
  readonly #progress = new Int32Array(new SharedArrayBuffer(4)).fill(NOTHING_YET)
  readonly #ready: Promise<boolean>
  #start: ((ready: boolean) => void) | undefined
  #finish: ((answer: ThreadAnswer) => void) | undefined
  #lost = false

  constructor(patterns: readonly CompiledPattern[]) {
    this.#worker = new Worker(new URL('./pattern-worker.mjs', import.meta.url), {
      // inherits nothing the product was started with: neither its loader nor its secrets
      execArgv: [],
      env: {},
      workerData: { patterns, progress: this.#progress.buffer, mostMatches: MOST_MATCHES },
      resourceLimits: { maxOldGenerationSizeMb: 128 },
    })
    this.#ready = new Promise((resolve) => {
      const slow = setTimeout(() => this.#lose('failed'), START_LIMIT_MS)
      this.#start = (ready) => {
        clearTimeout(slow)
        resolve(ready)
      }
    })
    this.#worker.on('message', (message: { ready: true } | ThreadMatches) => {
      if ('ready' in message) this.#start?.(true)
      else this.#answer(message)
    })
    this.#worker.on('error', () => this.#lose('failed'))
    this.#worker.on('exit', () => this.#lose('failed'))
    // last: adding a message listener would keep the process alive again
    this.#worker.unref()
  }

  /** Whether it has failed. */
  get isLost(): boolean {
    return this.#lost
  }

  /**
   * Runs the patterns at `places` over the texts; time counts from when the thread can begin. With a guard, which costs
   * every run some tenths of a millisecond, the thread stops what takes too long; without one the thread is lost.
   */
  async run(
    texts: readonly string[],
    places: readonly number[],
    { limitMs, isGuarded }: RunLimits,
  ): Promise<ThreadAnswer> {
    if (!(await this.#ready) || this.#lost) return { fault: 'failed', pattern: undefined }
    return new Promise((resolve) => {
      const timer = setTimeout(
        () => {
          // the answer may already be there, waiting for a busy main thread to read it
          if (Atomics.load(this.#progress, 0) !== ALL_DONE) this.#lose('timeout')
        },
        // a guard is late on a busy machine
        isGuarded ? 2 * limitMs : limitMs,
      )
      this.#finish = (answer) => {
        clearTimeout(timer)
        resolve(answer)
      }
      Atomics.store(this.#progress, 0, NOTHING_YET)
      this.#worker.postMessage({ texts, places, limitMs, isGuarded })
    })
  }

  /** Ends the thread; its current job is answered as failed. */
  async close(): Promise<void> {
    this.#lose('failed')
    await this.#worker.terminate()
  }

  #lose(fault: ThreadFault): void {
    this.#lost = true
    this.#start?.(false)
    const pattern = Atomics.load(this.#progress, 0)
    this.#answer({ fault, pattern: pattern < 0 ? undefined : pattern })
    void this.#worker.terminate()
  }

  #answer(answer: ThreadAnswer): void {
    this.#finish?.(answer)
    this.#finish = undefined
  }
}
