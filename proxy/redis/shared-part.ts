import type { RedisFault } from '../common/reasons.ts'
import { within } from '../common/within.ts'
import type { RedisCommand, RedisReply } from './connection/redis-command.ts'
import type { RedisAccess } from './connection/redis-connection.ts'
import { isOvertaken, isToBeRepeated } from './connection/redis-errors.ts'
import { canFollow } from './log-ids.ts'

/** What every shared part needs. */
export interface SharedPartOptions {
  readonly redis: RedisAccess
  readonly namespace: string
  readonly ttlSeconds: number
  /** counts invalid values in Redis, and writes that it rejected */
  readonly onFault: (reason: RedisFault, count?: number) => void
  /** how often it is exchanged; for tests */
  readonly pollMilliseconds?: number
}

/** An entry of a stream. */
export interface StreamEntry {
  readonly id: string
  /** names and values, alternating */
  readonly fields: readonly Buffer[]
}

/**
 * What became of an entry. `alone`: it was taken, and the log no longer had, or never had, another one; `overtaken`:
 * another proxy has written before; `unknown`: it may be written later, and may have been.
 */
type Appended = 'taken' | 'alone' | 'overtaken' | 'unknown' | 'refused'

/** How long the next turn waits after one in which Redis did not answer everything. */
const retryMilliseconds = 250

/** A part of what a proxy knows, exchanged with Redis again and again. No request waits for it. */
export abstract class SharedPart<Options extends SharedPartOptions = SharedPartOptions> {
  protected readonly options: Options
  readonly #pollMilliseconds: number
  #timer: NodeJS.Timeout | undefined
  #turn: Promise<void> | undefined
  #restsUntil = 0

  /** `pollMilliseconds`: how often it is exchanged. */
  constructor(options: Options, pollMilliseconds: number) {
    this.options = options
    this.#pollMilliseconds = options.pollMilliseconds ?? pollMilliseconds
  }

  /** Starts to follow and to write, at once. */
  start(): void {
    this.#timer = setInterval(() => {
      if (performance.now() >= this.#restsUntil) void this.share()
    }, this.#pollMilliseconds).unref()
    void this.share()
  }

  /** Stops after the turn in progress and one more, or when the time is over. */
  close(milliseconds: number): Promise<void> {
    const last = this.stop().then(() => this.share())
    return within(milliseconds, last)
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
    this.options.onFault('redis_value')
    return 0
  }

  /** Returns the reply to one command. */
  protected async ask(command: RedisCommand): Promise<RedisReply> {
    const [reply] = await this.options.redis.write([command])
    return reply ?? { error: new Error('no answer') }
  }

  /** Writes, and counts if something is not taken. Returns whether all is. */
  protected async put(commands: readonly RedisCommand[]): Promise<boolean> {
    const isTaken = (await this.options.redis.write(commands)).every((reply) => !('error' in reply))
    if (!isTaken) this.options.onFault('redis_write')
    return isTaken
  }

  /**
   * Reads what a stream has behind an entry, at most so many; undefined if Redis does not answer. What is no stream, or
   * has an id that none of ours can follow, is removed.
   */
  protected async readStream(key: string, behind: string, count: number): Promise<StreamEntry[] | undefined> {
    const reply = await this.ask({ key, name: 'xreadBuffer', args: ['COUNT', count, 'STREAMS', key, behind] })
    if ('error' in reply) {
      if (reply.error.message.startsWith('WRONGTYPE')) await this.#remove(key)
      return undefined
    }
    const [stream] = (reply.value ?? []) as [name: Buffer, entries: [id: Buffer, fields: Buffer[]][]][]
    const entries = (stream?.[1] ?? []).map(([id, fields]) => ({ id: id.toString(), fields }))
    if (entries.every(({ id }) => canFollow(id))) return entries
    await this.#remove(key)
    return undefined
  }

  /**
   * Adds an entry to a log that proxies write in turns (log-ids.ts), and counts if it is not taken and will not be.
   * `trim`: which entries the log drops.
   */
  protected async append(
    key: string,
    id: string,
    trim: readonly (string | number)[],
    bytes: Buffer,
  ): Promise<Appended> {
    const expiry = { key, name: 'expire', args: [key, this.options.ttlSeconds] }
    const args = [key, ...trim, id, 'e', bytes]
    const [known, added] = await this.options.redis.write([expiry, { key, name: 'xadd', args }, expiry])
    if (added && !('error' in added)) return known && 'value' in known && known.value === 0 ? 'alone' : 'taken'
    if (!added || isToBeRepeated(added.error)) return added && isOvertaken(added.error) ? 'overtaken' : 'unknown'
    this.options.onFault('redis_write')
    return 'refused'
  }

  async #remove(key: string): Promise<void> {
    this.options.onFault('redis_value')
    await this.ask({ key, name: 'unlink', args: [key] })
  }

  async #take(): Promise<void> {
    if (!this.options.redis.isUp) return
    let rest: number
    try {
      rest = (await this.exchange()) === false ? retryMilliseconds : 0
    } catch (error) {
      rest = this.failed(error)
    }
    this.#restsUntil = performance.now() + rest
  }
}
