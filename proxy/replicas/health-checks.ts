import { askEngine } from '#engine-adapters/ask-engine.ts'
import type { EngineClient } from '#engine-adapters/engine-client.ts'

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
export class HealthChecks<T extends HealthTarget> {
  readonly #targets: () => readonly T[]
  readonly #options: HealthCheckOptions
  readonly #isNeeded: () => boolean
  readonly #checked = new WeakSet<T>()
  readonly #timers = new Set<NodeJS.Timeout>()
  readonly #closing = new AbortController()

  /** `targets`: those there are now. `isNeeded`: while it returns false, all count as healthy, and none is asked. */
  constructor(
    targets: () => readonly T[],
    options: Partial<HealthCheckOptions> = {},
    isNeeded: () => boolean = () => true,
  ) {
    this.#targets = targets
    this.#options = { ...healthCheckDefaults, ...options }
    this.#isNeeded = isNeeded
    this.tick()
  }

  /** Begins to check the replicas that have come. */
  tick(): void {
    const { intervalMilliseconds } = this.#options
    if (intervalMilliseconds <= 0) return
    const targets = this.#targets()
    for (const [i, target] of targets.entries()) {
      if (this.#checked.has(target)) continue
      this.#checked.add(target)
      this.#in((i * intervalMilliseconds) / targets.length, () => this.#check(target))
    }
  }

  /** Stops checking and aborts the checks in progress. */
  close(): void {
    this.#closing.abort()
    for (const timer of this.#timers) clearTimeout(timer)
    this.#timers.clear()
  }

  /** Checks a replica. Repeats an interval after this check began, or when it ends if that is later. */
  async #check(target: T): Promise<void> {
    if (!this.#targets().includes(target)) {
      this.#checked.delete(target)
      return
    }
    const { engine, health } = target
    const { intervalMilliseconds, timeoutMilliseconds, path } = this.#options
    if (!this.#isNeeded()) {
      health.note(true)
      this.#in(intervalMilliseconds, () => this.#check(target))
      return
    }
    const isDue = new Promise<void>((resolve) => this.#in(intervalMilliseconds, resolve))
    const check = new AbortController()
    const timer = this.#in(timeoutMilliseconds, () => check.abort())
    const stop = (): void => check.abort()
    this.#closing.signal.addEventListener('abort', stop)
    const answer = await askEngine(engine, { path }, check.signal)
    this.#closing.signal.removeEventListener('abort', stop)
    clearTimeout(timer)
    this.#timers.delete(timer)
    if (this.#closing.signal.aborted) return
    // an engine without this path (404), or with a protected one (401), is alive too
    health.note(answer !== undefined && answer.status < 500)
    await isDue
    void this.#check(target)
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
