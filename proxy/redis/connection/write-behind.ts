import { setImmediate as afterIo, setTimeout as pause } from 'node:timers/promises'
import type { RedisCommand, RedisReply } from './redis-command.ts'
import type { RedisAccess } from './redis-connection.ts'
import { isToBeRepeated } from './redis-errors.ts'

interface WriteBehindOptions<Key, Change> {
  /** How many keys may wait. Beyond that the oldest are dropped; `onGivenUp` is called once the queue is empty. */
  readonly maxKeys: number
  /** Encodes a change when its turn comes. Returns undefined if there is nothing left to write. */
  toCommand(key: Key, change: Change): RedisCommand | undefined
  /** Called with the reply to a change, and whether the change will be retried. */
  onReply(key: Key, change: Change, reply: RedisReply, isRepeated: boolean): void
  onGivenUp(): void
}

const batchSize = 256
const batchCharacters = 1 << 20
const pauseMilliseconds = 250

/**
 * Writes to Redis off the request path: the latest change of each key, in pipelines, one at a time. Failed writes stay
 * in the queue until Redis accepts them. As a map it holds the changes that wait.
 */
export class WriteBehind<Key, Change> extends Map<Key, Change> {
  readonly #redis: RedisAccess
  readonly #options: WriteBehindOptions<Key, Change>
  #isWriting = false
  #hasGivenUp = false
  #isClosed = false

  constructor(redis: RedisAccess, options: WriteBehindOptions<Key, Change>) {
    super()
    this.#redis = redis
    this.#options = options
  }

  /** Queues a change; it replaces a waiting one of the same key. */
  put(key: Key, change: Change): void {
    this.delete(key)
    this.set(key, change)
    if (this.size > this.#options.maxKeys) {
      const [oldest] = this.keys()
      this.delete(oldest!)
      this.#hasGivenUp = true
    }
    this.wake()
  }

  /** Resumes writing if it had stopped. */
  wake(): void {
    if (this.#isWriting || this.#isClosed || this.size === 0) return
    this.#isWriting = true
    void this.#writeAll().finally(() => {
      this.#isWriting = false
    })
  }

  /** Writes what it can within the given time, then stops. */
  async close(milliseconds: number, now: () => number): Promise<void> {
    const until = now() + milliseconds
    while (this.#redis.isUp && (this.#isWriting || this.size > 0) && now() < until) {
      this.wake()
      await pause(2)
    }
    this.#isClosed = true
  }

  async #writeAll(): Promise<void> {
    while (this.size > 0 && !this.#isClosed) {
      // other pending work goes first, above all requests
      await afterIo()
      if (!this.#redis.isUp) return
      if (await this.#writeBatch()) continue
      setTimeout(() => this.wake(), pauseMilliseconds).unref()
      return
    }
    if (!this.#hasGivenUp || this.#isClosed) return
    this.#hasGivenUp = false
    setTimeout(() => this.#options.onGivenUp(), pauseMilliseconds).unref()
  }

  /** Writes a batch. Returns whether none of it has to be retried. */
  async #writeBatch(): Promise<boolean> {
    const batch: [Key, Change][] = []
    const commands: RedisCommand[] = []
    let characters = 0
    for (const [key, change] of this) {
      if (commands.length === batchSize || characters > batchCharacters) break
      this.delete(key)
      const command = this.#options.toCommand(key, change)
      if (!command) continue
      batch.push([key, change])
      commands.push(command)
      characters += sizeOf(command)
    }
    if (commands.length === 0) return true
    const replies = await this.#redis.write(commands)
    let isTaken = true
    for (const [i, [key, change]] of batch.entries()) {
      const reply = replies[i]!
      const isRepeated = 'error' in reply && isToBeRepeated(reply.error)
      this.#options.onReply(key, change, reply, isRepeated)
      if (!isRepeated) continue
      isTaken = false
      // a newer change takes precedence
      if (!this.has(key)) this.set(key, change)
    }
    return isTaken
  }
}

function sizeOf({ args }: RedisCommand): number {
  return args.reduce<number>((sum, argument) => {
    return sum + (Buffer.isBuffer(argument) ? argument.length : String(argument).length)
  }, 0)
}
