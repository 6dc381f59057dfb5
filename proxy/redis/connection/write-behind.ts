import { setImmediate as afterIo, setTimeout as pause } from 'node:timers/promises'
import type { RedisCommand, RedisReply } from './redis-command.ts'
import type { RedisAccess } from './redis-connection.ts'
import { isToBeRepeated } from './redis-errors.ts'

export interface WriteBehindOptions<Key, Change> {
  /** Keys that may wait; beyond it the oldest are given up, and told of by `onGivenUp` once there is room again. */
  readonly maxKeys: number
  /** Writes a change down when its turn has come; undefined when there is nothing left to write. */
  toCommand(key: Key, change: Change): RedisCommand | undefined
  /** Hears what Redis said to it, and whether it is tried again. */
  onReply(key: Key, change: Change, reply: RedisReply, isRepeated: boolean): void
  onGivenUp(): void
}

const batchSize = 256
const batchCharacters = 1 << 20
const pauseMilliseconds = 250

/**
 * What is still to be written to Redis, off the path of requests: the last change of each key, in pipelines, one at a
 * time. What could not be written stays, until Redis takes it.
 */
export class WriteBehind<Key, Change> {
  readonly #redis: RedisAccess
  readonly #options: WriteBehindOptions<Key, Change>
  readonly #waiting = new Map<Key, Change>()
  #isWriting = false
  #hasGivenUp = false
  #isClosed = false

  constructor(redis: RedisAccess, options: WriteBehindOptions<Key, Change>) {
    this.#redis = redis
    this.#options = options
  }

  /** Keys whose change has not been written yet. */
  get size(): number {
    return this.#waiting.size
  }

  /** What is waiting for a key. */
  peek(key: Key): Change | undefined {
    return this.#waiting.get(key)
  }

  /** Has a change written, in place of one of the same key that still waits. */
  put(key: Key, change: Change): void {
    this.#waiting.delete(key)
    this.#waiting.set(key, change)
    if (this.#waiting.size > this.#options.maxKeys) {
      const [oldest] = this.#waiting.keys()
      this.#waiting.delete(oldest!)
      this.#hasGivenUp = true
    }
    this.wake()
  }

  /** What waits for a key is not to be written any more. */
  delete(key: Key): void {
    this.#waiting.delete(key)
  }

  /** Goes on writing, if it had stopped. */
  wake(): void {
    if (this.#isWriting || this.#isClosed || this.#waiting.size === 0) return
    this.#isWriting = true
    void this.#writeAll().finally(() => {
      this.#isWriting = false
    })
  }

  /** Writes no more after what is under way, and what can be written until then. */
  async close(milliseconds: number, now: () => number): Promise<void> {
    const until = now() + milliseconds
    while (this.#redis.isUp && (this.#isWriting || this.#waiting.size > 0) && now() < until) {
      this.wake()
      await pause(2)
    }
    this.#isClosed = true
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.size > 0 && !this.#isClosed) {
      // whatever is under way, requests first of all, goes before
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

  /** Whether all of it was taken. */
  async #writeBatch(): Promise<boolean> {
    const batch: [Key, Change][] = []
    const commands: RedisCommand[] = []
    let characters = 0
    for (const [key, change] of this.#waiting) {
      if (commands.length === batchSize || characters > batchCharacters) break
      this.#waiting.delete(key)
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
      // what has changed since goes before
      if (!this.#waiting.has(key)) this.#waiting.set(key, change)
    }
    return isTaken
  }
}

function sizeOf({ args }: RedisCommand): number {
  return args.reduce<number>((sum, argument) => {
    return sum + (Buffer.isBuffer(argument) ? argument.length : String(argument).length)
  }, 0)
}
