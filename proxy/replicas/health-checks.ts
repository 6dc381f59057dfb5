import { askEngine } from '#engine-adapters/ask-engine.ts'
import type { EngineClient } from '#engine-adapters/engine-client.ts'
import { UnreachableError } from '../common/errors.ts'
import { RepeatedQuestions } from './repeated-questions.ts'

/** A replica to be checked. */
interface HealthTarget {
  readonly engine: EngineClient
  /** receives the result of each check */
  readonly health: { note(isAlive: boolean): void }
}

/** When and how replicas are checked. */
export interface HealthCheckOptions {
  /** 0: no checks */
  readonly intervalMilliseconds: number
  /** a check that is not answered within this time fails */
  readonly timeoutMilliseconds: number
}

/** Checks every replica at an interval, with the checks spread over it. */
export class HealthChecks<T extends HealthTarget> {
  readonly #targets: () => readonly T[]
  readonly #options: HealthCheckOptions
  readonly #isNeeded: () => boolean
  readonly #questions = new RepeatedQuestions<T>((target) => this.#check(target))
  readonly #closing = new AbortController()

  /** `targets`: those there are now. `isNeeded`: while it returns false, all count as healthy, and none is asked. */
  constructor(targets: () => readonly T[], options: HealthCheckOptions, isNeeded: () => boolean = () => true) {
    this.#targets = targets
    this.#options = options
    this.#isNeeded = isNeeded
  }

  /** Checks the replicas that are due; `now` in milliseconds. */
  tick(now: number): void {
    const { intervalMilliseconds } = this.#options
    if (intervalMilliseconds <= 0) return
    const targets = this.#targets()
    for (const [i, target] of targets.entries()) {
      void this.#questions.askAfter(intervalMilliseconds, target, now, (i * intervalMilliseconds) / targets.length)
    }
  }

  /** Aborts the checks in progress. */
  close(): void {
    this.#closing.abort()
  }

  async #check(target: T): Promise<void> {
    if (!this.#isNeeded()) {
      target.health.note(true)
      return
    }
    const late = new AbortController()
    const timer = setTimeout(() => late.abort(), this.#options.timeoutMilliseconds).unref()
    // `AbortSignal.any` would leave a reference at the long-lived signal with each check
    const stop = (): void => late.abort()
    this.#closing.signal.addEventListener('abort', stop)
    let isOurs = false
    const answer = await askEngine(target.engine, { path: '/health' }, late.signal, (error) => {
      isOurs = new UnreachableError(target.engine, error, false).isOurs
    })
    this.#closing.signal.removeEventListener('abort', stop)
    clearTimeout(timer)
    // an engine without this path (404), or with a protected one (401), is alive too
    if (!this.#closing.signal.aborted && !isOurs) target.health.note(answer !== undefined && answer.status < 500)
  }
}

/** Consecutive checks that change a state: one lost check, or one answer between failures, changes nothing. */
const toUnhealthy = 3
const toHealthy = 2

/** Whether a replica is healthy according to its latest checks. Starts as healthy. */
export class HealthState {
  #isHealthy = true
  /** consecutive checks that contradict the state */
  #against = 0

  /** The result of the checks so far. */
  get isHealthy(): boolean {
    return this.#isHealthy
  }

  /** Notes the result of a check. */
  note(isAlive: boolean): void {
    this.#against = isAlive === this.#isHealthy ? 0 : this.#against + 1
    if (this.#against < (this.#isHealthy ? toUnhealthy : toHealthy)) return
    this.#isHealthy = isAlive
    this.#against = 0
  }
}
