import type { EngineClient } from '#engine-adapters/engine-client.ts'
import { checkHealth } from './check-health.ts'

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
  readonly path: string
}

/** Defaults: the health path of vLLM and SGLang, and how soon a lost engine is noticed. */
const healthCheckDefaults: HealthCheckOptions = {
  intervalMilliseconds: 5_000,
  timeoutMilliseconds: 2_000,
  path: '/health',
}

/** Checks every replica at an interval, with the checks spread over it. Does not keep the process alive. */
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

  /** Stops checking and aborts the checks in progress. */
  close(): void {
    this.#closing.abort()
    for (const timer of this.#timers) clearTimeout(timer)
    this.#timers.clear()
  }

  /** Checks a replica. Repeats an interval after this check began, or when it ends if that is later. */
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
