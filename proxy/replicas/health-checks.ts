import { askEngine } from '#engine-adapters/ask-engine.ts'
import type { EngineClient } from '#engine-adapters/engine-client.ts'
import { UnreachableError } from '../common/errors.ts'
import { repeatedly } from './repeated-questions.ts'

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

/**
 * Returns what checks every target at an interval, with the checks spread over it; to be called periodically, with the
 * time in milliseconds. `targets`: those there are now. `closing` breaks off what is under way. `isNeeded`: while it
 * returns false, all count as healthy, and none is asked.
 */
export function checkHealth<T extends HealthTarget>(
  targets: () => readonly T[],
  { intervalMilliseconds, timeoutMilliseconds }: HealthCheckOptions,
  closing: AbortSignal,
  isNeeded: () => boolean = () => true,
): (now: number) => void {
  const check = async ({ engine, health }: T, signal: AbortSignal): Promise<void> => {
    if (!isNeeded()) return health.note(true)
    let isOurs = false
    const answer = await askEngine(engine, { path: '/health' }, signal, (error) => {
      isOurs = new UnreachableError(engine, error, false).isOurs
    })
    // an engine without this path (404), or with a protected one (401), is alive too
    if (!closing.aborted && !isOurs) health.note(answer !== undefined && answer.status < 500)
  }
  const askAfter = repeatedly(check, timeoutMilliseconds, closing)
  return (now) => {
    if (intervalMilliseconds <= 0) return
    const all = targets()
    for (const [i, target] of all.entries()) {
      void askAfter(intervalMilliseconds, target, now, (i * intervalMilliseconds) / all.length)
    }
  }
}

/** Consecutive checks that change a state: one lost check, or one answer between failures, changes nothing. */
const toUnhealthy = 3
const toHealthy = 2

/** Whether a replica is healthy according to its latest checks. Starts as healthy. */
export class HealthState {
  /** the result of the checks so far */
  isHealthy = true
  /** consecutive checks that contradict the state */
  #against = 0

  /** Notes the result of a check. */
  note(isAlive: boolean): void {
    this.#against = isAlive === this.isHealthy ? 0 : this.#against + 1
    if (this.#against < (this.isHealthy ? toUnhealthy : toHealthy)) return
    this.isHealthy = isAlive
    this.#against = 0
  }
}
