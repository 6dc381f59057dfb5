import type { RedisFault } from '../reasons.ts'
import type { RedisAccess } from './connection/redis-connection.ts'

/** What every shared part needs. */
export interface SharedPartOptions {
  readonly redis: RedisAccess
  readonly namespace: string
  readonly ttlSeconds: number
  /** counts invalid values in Redis, and writes that it rejected */
  readonly onFault: (reason: RedisFault, count?: number) => void
}

/** A part of what a proxy knows, exchanged with Redis again and again. No request waits for it. */
export abstract class SharedPart {
  readonly #options: SharedPartOptions
  readonly #pollMilliseconds: number
  #timer: NodeJS.Timeout | undefined
  #turn: Promise<void> | undefined

  constructor(options: SharedPartOptions, pollMilliseconds: number) {
    this.#options = options
    this.#pollMilliseconds = pollMilliseconds
  }

  /** Starts to follow and to write. */
  start(): void {
    void this.share()
    this.#timer = setInterval(() => void this.share(), this.#pollMilliseconds).unref()
  }

  /** Stops after the turn in progress and one more. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#turn
    await this.share()
  }

  /** Reads what others wrote, and writes what is news here. Concurrent calls share one turn. Never rejects. */
  share(): Promise<void> {
    this.#turn ??= (this.#options.redis.isUp ? this.exchange() : Promise.resolve())
      // a bug of ours: the proxy goes on with what it has in memory
      .catch(() => this.#options.onFault('redis_value'))
      .finally(() => {
        this.#turn = undefined
      })
    return this.#turn
  }

  protected abstract exchange(): Promise<void>
}
