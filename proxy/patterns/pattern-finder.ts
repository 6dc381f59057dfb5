import type { ContextList } from '../prompt/context-list.ts'
import type { BlockPattern, CompiledPattern } from './block-pattern.ts'
import { compilePatterns } from './compile-patterns.ts'
import { PatternThread, type ThreadFailure } from './pattern-thread.ts'
import { readMatches } from './read-matches.ts'

/** How much patterns may take of a request. */
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

/** What holds where the configuration says nothing. */
export const defaultPatternLimits: PatternLimits = {
  timeoutMs: 50,
  mostText: 1024 * 1024,
  mostTimeouts: 3,
  mostWaiting: 64,
}

/** Why a request goes on without its patterns' blocks, or a pattern is used no more. */
export interface PatternFault {
  readonly reason: 'pattern_timeout' | 'pattern_text_too_large' | 'pattern_busy' | 'pattern_failed' | 'pattern_off'
  /** The pattern at fault, where it is known. */
  readonly pattern: string | undefined
}

/**
 * Finds blocks by the user's patterns in a thread of its own, within a time limit. It never throws and never rejects:
 * what goes wrong is told to `onFault`, and the request goes on as if nothing had matched.
 */
export class PatternFinder {
  readonly #patterns: readonly CompiledPattern[]
  readonly #limits: PatternLimits
  readonly #onFault: (fault: PatternFault) => void
  /** How often each pattern has run out of time in a row. */
  readonly #timeouts: number[]
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

  /** The lists in each of the texts; none for all of them when a limit is reached or the signal aborts. */
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
    if (this.#thread === undefined || this.#thread.isLost) this.#thread = new PatternThread(this.#patterns)
    const answer = await this.#thread.run(texts, places, this.#limits.timeoutMs)
    if ('fault' in answer) return this.#closed ? none : this.#answerFailure(answer, none)
    this.#failures = 0
    for (const place of places) this.#timeouts[place] = 0
    return texts.map((text, i) =>
      readMatches(
        text,
        answer.found.map((matches) => matches[i]!),
      ),
    )
  }

  #answerFailure(
    { fault, pattern }: ThreadFailure,
    none: ReadonlyArray<readonly ContextList[]>,
  ): ReadonlyArray<readonly ContextList[]> {
    const { mostTimeouts } = this.#limits
    const name = pattern === undefined ? undefined : this.#patterns[pattern]!.name
    const times = pattern === undefined ? ++this.#failures : ++this.#timeouts[pattern]!
    this.#fail(fault === 'timeout' ? 'pattern_timeout' : 'pattern_failed', name, none)
    if (times === mostTimeouts) this.#fail('pattern_off', name, none)
    // a thread that is begun now is ready for a later request
    if (this.#placesInUse().length > 0) this.#thread = new PatternThread(this.#patterns)
    return none
  }

  #fail<Result>(reason: PatternFault['reason'], pattern: string | undefined, result: Result): Result {
    this.#onFault({ reason, pattern })
    return result
  }
}
