import type { EngineClient } from '#engine-adapters/engine-client.ts'
import { checkHealth } from './check-health.ts'

/** One replica to be checked. */
export interface HealthTarget {
  readonly engine: EngineClient
  /** is told what each check found */
  readonly health: { note(isAlive: boolean): void }
}

/** When and how replicas are checked. */
export interface HealthCheckOptions {
  /** 0: no checks */
  readonly intervalMilliseconds: number
  /** a check that is not answered in this time has failed */
  readonly timeoutMilliseconds: number
  readonly path: string
}

/** What vLLM and SGLang answer, and how soon an engine that is gone is noticed. */
export const healthCheckDefaults: HealthCheckOptions = {
  intervalMilliseconds: 5_000,
  timeoutMilliseconds: 2_000,
  path: '/health',
}

/** Asks every replica for its health at an interval, one after the other within it. Keeps no process running. */
export class HealthChecks {
  readonly #options: HealthCheckOptions
  readonly #timers = new Set<NodeJS.Timeout>()
  readonly #closing = new AbortController()

  constructor(targets: readonly HealthTarget[], options: Partial<HealthCheckOptions> = {}) {
    this.#options = { ...healthCheckDefaults, ...options }
    if (this.#options.intervalMilliseconds <= 0) return
    for (const [i, target] of targets.entries()) {
      this.#in((i * this.#options.intervalMilliseconds) / targets.length, () => this.#check(target))
    }
  }

  /** Checks no more, and breaks off the checks that are under way. */
  close(): void {
    this.#closing.abort()
    for (const timer of this.#timers) clearTimeout(timer)
    this.#timers.clear()
  }

  /** Checks a replica, and again an interval after this check began, or at its end if that is later. */
  async #check({ engine, health }: HealthTarget): Promise<void> {
    const { intervalMilliseconds, timeoutMilliseconds, path } = this.#options
    const isDue = new Promise<void>((resolve) => this.#in(intervalMilliseconds, resolve))
    const check = new AbortController()
    const timer = this.#in(timeoutMilliseconds, () => check.abort())
    const stop = (): void => check.abort()
    this.#closing.signal.addEventListener('abort', stop)
    const isAlive = await checkHealth(engine, path, check.signal)
    this.#closing.signal.removeEventListener('abort', stop)
    clearTimeout(timer)
    this.#timers.delete(timer)
    if (this.#closing.signal.aborted) return
    health.note(isAlive)
    await isDue
    void this.#check({ engine, health })
  }

  #in(milliseconds: number, act: () => void): NodeJS.Timeout {
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      act()
    }, milliseconds)
    this.#timers.add(timer)
    return timer.unref()
  }
}
