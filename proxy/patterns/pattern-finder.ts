import type { ContextList } from '../prompt/context-list.ts'
import type { BlockPattern, CompiledPattern } from './block-pattern.ts'
import { compilePatterns } from './compile-patterns.ts'
import { PatternThread, type ThreadAnswer, type ThreadFailure } from './pattern-thread.ts'
import { readMatches } from './read-matches.ts'

/** How much time and text patterns may use. */
export interface PatternLimits {
  /** For all patterns together. */
  readonly timeoutMs: number
  /** Of all texts together, in UTF-16 units. */
  readonly mostText: number
  /** Times in a row that a pattern may run out of time before it is switched off. */
  readonly mostTimeouts: number
  /** Requests that may wait for the thread. */
  readonly mostWaiting: number
}

/** The limits if the configuration says nothing. */
export const defaultPatternLimits: PatternLimits = {
  timeoutMs: 50,
  mostText: 1024 * 1024,
  mostTimeouts: 3,
  mostWaiting: 64,
}

/** Why a request continues without its patterns' blocks, or why a pattern is no longer used. */
export interface PatternFault {
  readonly reason: 'pattern_timeout' | 'pattern_text_too_large' | 'pattern_busy' | 'pattern_failed' | 'pattern_off'
  /** The pattern at fault, if it is known. */
  readonly pattern: string | undefined
}

/**
 * Finds blocks by the user's patterns in a separate thread, within a time limit. Never throws or rejects: problems are
 * reported to `onFault`, and the request continues as if nothing had matched.
 */
export class PatternFinder {
  readonly #patterns: readonly CompiledPattern[]
  readonly #limits: PatternLimits
  readonly #onFault: (fault: PatternFault) => void
  /** How often each pattern has run out of time in a row. */
  readonly #timeouts: number[]
  /** The indices of patterns that have been stopped. */
  readonly #slow = new Set<number>()
  /** Threads in a row that were lost for another reason. */
  #failures = 0
  #thread: PatternThread | undefined
  #last: Promise<unknown> = Promise.resolve()
  #waiting = 0
  #closed = false

  /** Throws when a pattern is invalid. */
  constructor(
    patterns: readonly BlockPattern[],
    limits: Partial<PatternLimits>,
    onFault: (fault: PatternFault) => void,
  ) {
    this.#patterns = compilePatterns(patterns)
    this.#limits = { ...defaultPatternLimits, ...limits }
    this.#onFault = onFault
    this.#timeouts = patterns.map(() => 0)
    // so that the first request need not wait for it
    if (patterns.length > 0) this.#thread = new PatternThread(this.#patterns)
  }

  /**
   * Returns the lists in each of the texts, which are read in this order. Returns no lists for any of them if they are
   * too long, the thread is lost or the signal aborts. A pattern that takes too long on a text finds nothing there;
   * everything else that is found counts.
   */
  async find(texts: readonly string[], signal?: AbortSignal): Promise<ReadonlyArray<readonly ContextList[]>> {
    const none = texts.map(() => [])
    if (this.#closed || signal?.aborted || this.#placesInUse().length === 0) return none
    const length = texts.reduce((sum, text) => sum + text.length, 0)
    if (length === 0) return none
    if (length > this.#limits.mostText) return this.#fail('pattern_text_too_large', undefined, none)
    if (this.#waiting >= this.#limits.mostWaiting) return this.#fail('pattern_busy', undefined, none)
    this.#waiting++
    const turn = this.#last.then(() => this.#run(texts, none, signal))
    this.#last = turn
    return turn.finally(() => this.#waiting--)
  }

  /** Ends the thread; later calls find nothing. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#thread?.close()
  }

  #placesInUse(): number[] {
    if (this.#failures >= this.#limits.mostTimeouts) return []
    return [...this.#patterns.keys()].filter((place) => this.#timeouts[place]! < this.#limits.mostTimeouts)
  }

  async #run(
    texts: readonly string[],
    none: ReadonlyArray<readonly ContextList[]>,
    signal: AbortSignal | undefined,
  ): Promise<ReadonlyArray<readonly ContextList[]>> {
    const places = this.#placesInUse()
    if (this.#closed || signal?.aborted || places.length === 0) return none
    const answer = await this.#runInTime(texts, places)
    if ('fault' in answer) return this.#closed ? none : this.#answerFailure(answer, none)
    this.#failures = 0
    for (const place of places) if (!answer.timedOut.includes(place)) this.#timeouts[place] = 0
    for (const place of answer.timedOut) {
      this.#slow.add(place)
      this.#noteFailure('pattern_timeout', place)
    }
    return texts.map((text, i) =>
      readMatches(
        text,
        answer.found.map((matches) => matches[i]!),
      ),
    )
  }

  /** Runs without a guard for the first half of the time, unless one of the patterns has ever needed a guard. */
  async #runInTime(texts: readonly string[], places: readonly number[]): Promise<ThreadAnswer> {
    const limitMs = this.#limits.timeoutMs
    if (places.some((place) => this.#slow.has(place))) {
      return this.#currentThread().run(texts, places, { limitMs, isGuarded: true })
    }
    const answer = await this.#currentThread().run(texts, places, { limitMs: limitMs / 2, isGuarded: false })
    if (this.#closed || !('fault' in answer) || answer.fault !== 'timeout') return answer
    return this.#currentThread().run(texts, places, { limitMs: limitMs / 2, isGuarded: true })
  }

  #currentThread(): PatternThread {
    if (this.#thread === undefined || this.#thread.isLost) this.#thread = new PatternThread(this.#patterns)
    return this.#thread
  }

  #answerFailure(
    { fault, pattern }: ThreadFailure,
    none: ReadonlyArray<readonly ContextList[]>,
  ): ReadonlyArray<readonly ContextList[]> {
    this.#noteFailure(fault === 'timeout' ? 'pattern_timeout' : 'pattern_failed', pattern)
    // a thread started now is ready for a later request
    if (this.#placesInUse().length > 0) this.#thread = new PatternThread(this.#patterns)
    return none
  }

  /** Counts a failure of a pattern, or of the thread if the pattern is not known; too many in a row end its use. */
  #noteFailure(reason: PatternFault['reason'], place: number | undefined): void {
    const pattern = place === undefined ? undefined : this.#patterns[place]!.name
    const times = place === undefined ? ++this.#failures : ++this.#timeouts[place]!
    this.#onFault({ reason, pattern })
    if (times === this.#limits.mostTimeouts) this.#onFault({ reason: 'pattern_off', pattern })
  }

  #fail<Result>(reason: PatternFault['reason'], pattern: string | undefined, result: Result): Result {
    this.#onFault({ reason, pattern })
    return result
  }
}
