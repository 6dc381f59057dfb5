import type { RedisFault } from '../common/reasons.ts'
import type { RedisAccess } from './connection/redis-connection.ts'

/** What every shared part needs. */
export interface SharedPartOptions {
  readonly redis: RedisAccess
  readonly namespace: string
  readonly ttlSeconds: number
  /** counts invalid values in Redis, and writes that it rejected */
  readonly onFault: (reason: RedisFault, count?: number) => void
}

/** How long the next turn waits after one in which Redis did not answer everything. */
const retryMilliseconds = 250

/** A part of what a proxy knows, exchanged with Redis again and again. No request waits for it. */
export abstract class SharedPart {
  readonly #options: SharedPartOptions
  readonly #pollMilliseconds: number
  #timer: NodeJS.Timeout | undefined
  #turn: Promise<void> | undefined
  #restsUntil = 0

  constructor(options: SharedPartOptions, pollMilliseconds: number) {
    this.#options = options
    this.#pollMilliseconds = pollMilliseconds
  }

  /** Starts to follow and to write, at once. */
  start(): void {
    this.#timer = setInterval(() => {
      if (performance.now() >= this.#restsUntil) void this.share()
    }, this.#pollMilliseconds).unref()
    void this.share()
  }

  /** Stops after the turn in progress and one more. */
  async close(_milliseconds?: number): Promise<void> {
    await this.stop()
    await this.share()
  }

  /** Reads what others wrote, and writes what is news here. Concurrent calls share one turn. Never rejects. */
  share(): Promise<void> {
    this.#turn ??= this.#take().finally(() => {
      this.#turn = undefined
    })
    return this.#turn
  }

  protected get isStarted(): boolean {
    return this.#timer !== undefined
  }

  /** Stops after the turn in progress. */
  protected async stop(): Promise<void> {
    clearInterval(this.#timer)
    this.#timer = undefined
    await this.#turn
  }

  /** One turn. Returns false if Redis did not answer everything: the next one waits longer. */
  protected abstract exchange(): Promise<unknown>

  /** A turn threw, which is a bug of ours: the proxy goes on with what it has in memory. Returns how long the next waits. */
  protected failed(_error: unknown): number {
    this.#options.onFault('redis_value')
    return 0
  }

  async #take(): Promise<void> {
    if (!this.#options.redis.isUp) return
    let rest: number
    try {
      rest = (await this.exchange()) === false ? retryMilliseconds : 0
    } catch (error) {
      rest = this.failed(error)
    }
    this.#restsUntil = performance.now() + rest
  }
}
