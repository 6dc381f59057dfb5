import { setTimeout as pause } from 'node:timers/promises'
import type { BlockId, Context } from '#index/context-block.ts'
import {
  type HotBlock,
  type HotBlocks,
  hotBlocksCapacity,
  MemoryHotBlocks,
} from '../telemetry/hot-blocks/hot-blocks.ts'
import type { RedisReply } from './connection/redis-command.ts'
import { isToBeRepeated } from './connection/redis-errors.ts'
import { hotBlocksRedisKeys } from './redis-keys.ts'
import { SharedPart, type SharedPartOptions } from './shared-part.ts'

interface SharedHotBlocksOptions extends SharedPartOptions {
  readonly capacity?: number
}

const pollMilliseconds = 1_000

/**
 * Adds counts, unless somebody has cleared all since they were counted, and returns the stamp of the last clearing and
 * the highest counts. ARGV: time to live, length of the list, the stamp that the proxy knows, then counts and members.
 */
export const addHotBlocks = `
local cleared = math.max(tonumber(redis.call('GET', KEYS[2])) or 0, tonumber(ARGV[3]))
local stamp = string.format('%.0f', cleared)
redis.call('SET', KEYS[2], stamp, 'EX', ARGV[1])
if cleared == tonumber(ARGV[3]) then
  for at = 4, #ARGV, 2 do redis.call('ZINCRBY', KEYS[1], ARGV[at], ARGV[at + 1]) end
  redis.call('ZREMRANGEBYRANK', KEYS[1], 0, -1 - 2 * ARGV[2])
  redis.call('EXPIRE', KEYS[1], ARGV[1])
end
return {stamp, redis.call('ZRANGE', KEYS[1], 0, ARGV[2] - 1, 'REV', 'WITHSCORES')}
`
/**
 * Clears the counts. Returns the stamp of this clearing: the time in milliseconds, but later than every stamp known.
 * ARGV: as above, with the time in place of counts.
 */
export const clearHotBlocks = `
local known = math.max(tonumber(redis.call('GET', KEYS[2])) or 0, tonumber(ARGV[3]))
local cleared = string.format('%.0f', math.max(known + 1, tonumber(ARGV[4])))
redis.call('UNLINK', KEYS[1])
redis.call('SET', KEYS[2], cleared, 'EX', ARGV[1])
return {cleared, {}}
`

/**
 * Counts the most requested blocks of all proxies of a namespace, in a sorted set in Redis. Every second each proxy adds
 * what it has counted and reads the highest counts. They are counts for people: a write whose answer is lost may count
 * twice, and after a loss Redis gets back what the proxies that still run have counted.
 */
export class SharedHotBlocks extends SharedPart<SharedHotBlocksOptions> implements HotBlocks {
  readonly #capacity: number
  /** all that this proxy has counted, to restore a Redis that has lost its counts */
  #own: MemoryHotBlocks
  /** what Redis does not have yet */
  #pending: MemoryHotBlocks
  /** as last read */
  #shared: readonly HotBlock[] = []
  /** the stamp of the last clearing, 0 if there was none; undefined until Redis has told it */
  #cleared: number | undefined
  #mustClear = false

  constructor(options: SharedHotBlocksOptions) {
    super(options, pollMilliseconds)
    this.#capacity = options.capacity ?? hotBlocksCapacity
    this.#own = new MemoryHotBlocks(this.#capacity)
    this.#pending = new MemoryHotBlocks(this.#capacity)
  }

  /** load of this proxy's own counts */
  get load(): number {
    return this.#own.load
  }

  note(blocks: Context, sizes: readonly number[]): void {
    this.#own.note(blocks, sizes)
    this.#pending.note(blocks, sizes)
  }

  top(length: number): HotBlock[] {
    const sum = new Map(this.#shared.map((hot) => [hot.block, hot]))
    for (const hot of this.#pending.top(2 * this.#capacity)) {
      sum.set(hot.block, { ...hot, count: hot.count + (sum.get(hot.block)?.count ?? 0) })
    }
    return [...sum.values()].sort((a, b) => b.count - a.count).slice(0, length)
  }

  /** Clears the counts here at once, and on all other proxies at their next exchange. */
  clear(): void {
    this.#forget()
    this.#mustClear = true
    void this.share()
  }

  /** Writes what it can within the given time, then stops. */
  override async close(milliseconds: number): Promise<void> {
    const ending = new AbortController()
    const { signal } = ending
    await Promise.race([super.close(), pause(milliseconds, undefined, { signal }).catch(() => {})])
    ending.abort()
  }

  /** Adds pending counts and reads the highest. */
  protected async exchange(): Promise<void> {
    await this.#exchange()
    // cleared meanwhile
    if (this.#mustClear) await this.#exchange()
  }

  async #exchange(): Promise<void> {
    if (this.#mustClear && !(await this.#writeClearing())) return
    const [sent, own] = [this.#pending.top(2 * this.#capacity), this.#own]
    this.#pending = new MemoryHotBlocks(this.#capacity)
    const reply = await this.#run(
      addHotBlocks,
      sent.flatMap(({ block, count, size }) => [count, `${block}:${size}`]),
    )
    // cleared here meanwhile: nothing of this counts any more
    if (own !== this.#own) return
    const read = this.#read(reply)
    if (!read) {
      for (const hot of sent) this.#pending.add(hot)
      return this.#repair(reply)
    }
    const known = this.#cleared
    this.#cleared = read.cleared
    if (known !== undefined && read.cleared > known) return this.#forget()
    // this proxy has only begun, and was not there when they were cleared
    if (read.cleared > (known ?? 0)) for (const hot of sent) this.#pending.add(hot)
    this.#takeTop(read.top)
  }

  #takeTop(top: readonly HotBlock[]): void {
    // the highest count never falls, so Redis has lost counts
    if ((this.#shared[0]?.count ?? 0) > (top[0]?.count ?? 0)) {
      this.#pending = new MemoryHotBlocks(this.#capacity)
      for (const hot of this.#own.top(2 * this.#capacity)) this.#pending.add(hot)
      this.#shared = []
    } else this.#shared = top
  }

  /** Returns whether Redis has done it. */
  async #writeClearing(): Promise<boolean> {
    const own = this.#own
    const read = this.#read(await this.#run(clearHotBlocks, [Date.now()]))
    if (!read) return false
    this.#cleared = read.cleared
    if (own === this.#own) this.#mustClear = false
    return !this.#mustClear
  }

  #run(script: string, added: readonly (string | number)[]): Promise<RedisReply> {
    const { namespace, ttlSeconds } = this.options
    const { counts, cleared } = hotBlocksRedisKeys(namespace)
    const args = [script, 2, counts, cleared, ttlSeconds, this.#capacity, this.#cleared ?? 0, ...added]
    return this.ask({ key: counts, name: 'eval', args })
  }

  #forget(): void {
    this.#own = new MemoryHotBlocks(this.#capacity)
    this.#pending = new MemoryHotBlocks(this.#capacity)
    this.#shared = []
  }

  /** Removes values of another type. */
  async #repair(reply: RedisReply): Promise<void> {
    const { redis, namespace } = this.options
    if (!('error' in reply) || !reply.error.message.includes('WRONGTYPE')) return
    const { counts, cleared } = hotBlocksRedisKeys(namespace)
    await redis.write([{ key: counts, name: 'unlink', args: [counts, cleared] }])
  }

  /** Returns what the script told; undefined if it told nothing. Removes invalid members. */
  #read(reply: RedisReply): { cleared: number; top: HotBlock[] } | undefined {
    const value = 'value' in reply ? reply.value : undefined
    if (!Array.isArray(value) || !Array.isArray(value[1])) {
      if ('error' in reply && !isToBeRepeated(reply.error)) {
        this.options.onFault(reply.error.message.includes('WRONGTYPE') ? 'redis_value' : 'redis_write')
      }
      return undefined
    }
    const scores = value[1] as unknown[]
    const top = new MemoryHotBlocks(this.#capacity)
    const strange: string[] = []
    for (let at = 0; at + 1 < scores.length; at += 2) {
      const hot = toHotBlock(String(scores[at]), Number(scores[at + 1]))
      if (hot) top.add(hot)
      else strange.push(String(scores[at]))
    }
    if (strange.length > 0) {
      const { counts } = hotBlocksRedisKeys(this.options.namespace)
      this.options.onFault('redis_value')
      void this.options.redis.write([{ key: counts, name: 'zrem', args: [counts, ...strange] }])
    }
    return { cleared: Number(value[0]), top: top.top(this.#capacity) }
  }
}

function toHotBlock(member: string, count: number): HotBlock | undefined {
  const [, block, size] = /^(~?[\w-]{22}):(\d{1,15})$/.exec(member) ?? []
  if (block === undefined || !(count > 0 && count < Number.MAX_SAFE_INTEGER)) return undefined
  return { block: block as BlockId, count: Math.floor(count), size: Number(size) }
}
