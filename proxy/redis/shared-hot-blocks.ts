import { setTimeout as pause } from 'node:timers/promises'
import type { BlockId, Context } from '#index/context-block.ts'
import type { RedisFault } from '../reasons.ts'
import { type HotBlock, type HotBlocks, hotBlocksCapacity } from '../telemetry/hot-blocks/hot-blocks.ts'
import { MemoryHotBlocks } from '../telemetry/hot-blocks/memory-hot-blocks.ts'
import { evalCommand, type RedisReply } from './connection/redis-command.ts'
import type { RedisAccess } from './connection/redis-connection.ts'
import { isToBeRepeated } from './connection/redis-errors.ts'
import { hotBlocksRedisKeys } from './redis-keys.ts'

interface SharedHotBlocksOptions {
  readonly redis: RedisAccess
  readonly namespace: string
  readonly ttlSeconds: number
  /** unique id of this run of this proxy */
  readonly proxy: string
  /** counts invalid values in Redis, and writes that it rejected */
  readonly onFault: (reason: RedisFault) => void
  readonly capacity?: number
  readonly pollMilliseconds?: number
}

const defaultPollMilliseconds = 1_000
/** Unchanged counts are written again after this many exchanges: Redis may have lost them unnoticed. */
const exchangesPerRepeat = 3
/** How many proxies' counts are added up, including those that ended within the time to live. */
const mostProxies = 64
/** A size is stored as the fraction of a score: exact up to a million characters, and counts far beyond real demand. */
const sizeUnit = 2 ** 20

/** Replaces the counts that a proxy wrote before. */
export const writeHotBlocks = `
redis.call('UNLINK', KEYS[1])
for at = 2, #ARGV, 2 do redis.call('ZADD', KEYS[1], ARGV[at], ARGV[at + 1]) end
redis.call('EXPIRE', KEYS[1], ARGV[1])
`

/**
 * Counts the most requested blocks of all proxies of a namespace, through Redis. Every second each proxy writes the
 * counts of its hottest blocks, and adds up what all have written. A proxy only ever writes its own counts, and all of
 * them, so nothing counts twice, whatever is repeated, late or lost on the way. No count is too low by more than
 * 1 / capacity of all requests for blocks. The counts of a proxy that has ended expire with its key.
 *
 * Keys carry an epoch: how often all counts were cleared. A proxy that sees a later epoch starts from zero.
 */
export class SharedHotBlocks implements HotBlocks {
  readonly #options: SharedHotBlocksOptions
  readonly #own: MemoryHotBlocks
  readonly #capacity: number
  readonly #closing = new AbortController()
  #others = new Map<BlockId, HotBlock>()
  /** −1: not known yet */
  #epoch = -1
  #mustClear = false
  #hasChanged = false
  #exchanges = 0
  #exchanging: Promise<void> | undefined

  constructor(options: SharedHotBlocksOptions) {
    this.#options = options
    this.#capacity = options.capacity ?? hotBlocksCapacity
    this.#own = new MemoryHotBlocks(this.#capacity)
    options.redis.listen({
      onUp: () => {},
      onLost: () => {
        this.#hasChanged = true
      },
    })
  }

  /** load of this proxy's own counts */
  get load(): number {
    return this.#own.load
  }

  note(blocks: Context, sizes: readonly number[]): void {
    this.#own.note(blocks, sizes)
    this.#hasChanged = true
  }

  top(length: number): HotBlock[] {
    const sum = new Map(this.#others)
    for (const hot of this.#own.top(this.#capacity)) addTo(sum, hot)
    return [...sum.values()].sort((a, b) => b.count - a.count).slice(0, length)
  }

  /** Clears the counts here at once, and on all other proxies as soon as they see the new epoch. */
  clear(): void {
    this.#forget()
    this.#mustClear = true
    if (this.#options.redis.isUp) void this.exchange()
  }

  /** Starts to exchange counts with Redis. */
  start(): void {
    void this.#keepExchanging()
  }

  /** Writes what it can within the given time, then stops. */
  async close(milliseconds: number): Promise<void> {
    this.#closing.abort()
    const ending = new AbortController()
    const { signal } = ending
    await Promise.race([this.#writeRest(), pause(milliseconds, undefined, { signal }).catch(() => {})])
    ending.abort()
  }

  /** Writes pending counts and reads those of other proxies. Never rejects. */
  exchange(): Promise<void> {
    this.#exchanging ??= this.#exchange()
      // a bug of ours: counting continues in memory
      .catch(() => this.#options.onFault('redis_value'))
      .finally(() => {
        this.#exchanging = undefined
      })
    return this.#exchanging
  }

  async #keepExchanging(): Promise<void> {
    const { signal } = this.#closing
    const { redis, pollMilliseconds = defaultPollMilliseconds } = this.#options
    while (!signal.aborted) {
      if (redis.isUp) await this.exchange()
      await pause(pollMilliseconds, undefined, { signal, ref: false }).catch(() => {})
    }
  }

  async #writeRest(): Promise<void> {
    await this.#exchanging
    if (this.#options.redis.isUp && (this.#hasChanged || this.#mustClear)) await this.exchange()
  }

  async #exchange(): Promise<void> {
    const { redis, namespace, proxy } = this.#options
    const { proxies } = hotBlocksRedisKeys(namespace)
    const args = [proxies, 0, -1, 'WITHSCORES']
    const [reply] = await redis.write([{ key: proxies, name: 'zrange', args }])
    const members = this.#readScores(reply, /^[\w.-]{1,100}$/)
    // the key holds a value of another type
    if (reply && 'error' in reply && reply.error.message.startsWith('WRONGTYPE')) {
      await redis.write([{ key: proxies, name: 'unlink', args: [proxies] }])
    }
    if (!members) return
    this.#follow(Math.max(-1, ...members.values()))
    await this.#write()
    const others = [...members].filter(([name, epoch]) => name !== proxy && epoch === this.#epoch).map(([name]) => name)
    await this.#read(others.slice(-mostProxies))
  }

  /** Adopts the latest epoch that any proxy knows, or starts a new one. */
  #follow(latest: number): void {
    if (this.#mustClear) {
      this.#mustClear = false
      this.#epoch = Math.max(latest, this.#epoch) + 1
      this.#hasChanged = true
    } else if (latest > this.#epoch) {
      // another proxy has cleared the counts
      if (this.#epoch >= 0) this.#forget()
      this.#epoch = latest
      this.#hasChanged = true
    } else this.#epoch = Math.max(0, this.#epoch)
  }

  #forget(): void {
    this.#own.clear()
    this.#others = new Map()
  }

  async #write(): Promise<void> {
    this.#exchanges += 1
    const isRepeat = this.#exchanges % exchangesPerRepeat === 0
    if (!this.#hasChanged && !isRepeat) return
    const { redis, namespace, proxy, ttlSeconds } = this.#options
    const { proxies, counts } = hotBlocksRedisKeys(namespace, this.#epoch, proxy)
    const scores = this.#own.top(this.#capacity).flatMap((hot) => [toScore(hot), hot.block])
    this.#hasChanged = false
    const replies = await redis.write([
      evalCommand(writeHotBlocks, counts, ttlSeconds, ...scores),
      { key: proxies, name: 'zadd', args: [proxies, 'GT', this.#epoch, proxy] },
      { key: proxies, name: 'expire', args: [proxies, ttlSeconds] },
    ])
    for (const reply of replies) {
      if (!('error' in reply)) continue
      this.#hasChanged = true
      if (!isToBeRepeated(reply.error)) this.#options.onFault('redis_write')
    }
  }

  async #read(proxies: readonly string[]): Promise<void> {
    const { redis, namespace } = this.#options
    const epoch = this.#epoch
    const keys = proxies.map((name) => hotBlocksRedisKeys(namespace, epoch, name).counts)
    const args = [0, this.#capacity - 1, 'REV', 'WITHSCORES']
    const replies = await redis.write(keys.map((key) => ({ key, name: 'zrange', args: [key, ...args] })))
    const sum = new Map<BlockId, HotBlock>()
    for (const reply of replies) {
      const scores = this.#readScores(reply, /^~?[\w-]{22}$/)
      // keep the previous sums until the next successful read
      if (!scores) return
      for (const [block, score] of scores) addTo(sum, toHotBlock(block as BlockId, score))
    }
    // everything may have been cleared meanwhile
    if (!this.#mustClear) this.#others = sum
    const ended = proxies.filter((_, i) => 'value' in replies[i]! && (replies[i].value as []).length === 0)
    const { proxies: key } = hotBlocksRedisKeys(namespace)
    if (ended.length > 0) await redis.write([{ key, name: 'zrem', args: [key, ...ended] }])
  }

  /** Returns the members of a sorted set with their scores; undefined without a reply. Skips invalid members. */
  #readScores(reply: RedisReply | undefined, shape: RegExp): Map<string, number> | undefined {
    if (!reply || 'error' in reply || !Array.isArray(reply.value)) {
      if (reply && !('error' in reply && isToBeRepeated(reply.error))) this.#options.onFault('redis_value')
      return undefined
    }
    const scores = new Map<string, number>()
    for (let at = 0; at + 1 < reply.value.length; at += 2) {
      const [member, score] = [String(reply.value[at]), Number(reply.value[at + 1])]
      if (shape.test(member) && score >= 0 && score < Number.MAX_SAFE_INTEGER) scores.set(member, score)
      else this.#options.onFault('redis_value')
    }
    return scores
  }
}

function addTo(sum: Map<BlockId, HotBlock>, { block, count, size }: HotBlock): void {
  sum.set(block, { block, count: count + (sum.get(block)?.count ?? 0), size })
}

function toScore({ count, size }: HotBlock): number {
  return count + Math.min(size, sizeUnit - 1) / sizeUnit
}

function toHotBlock(block: BlockId, score: number): HotBlock {
  return { block, count: Math.floor(score), size: Math.round((score % 1) * sizeUnit) }
}
