import { toBlockId } from '#index/context-block.ts'
import { createLog } from '#proxy/common/log.ts'
import type { RedisReply } from '#proxy/redis/connection/redis-command.ts'
import type { RedisAccess, RedisConnection } from '#proxy/redis/connection/redis-connection.ts'
import { createSharedRedis } from '#proxy/redis/create-shared-redis.ts'
import { hotBlocksRedisKey } from '#proxy/redis/redis-keys.ts'
import { SharedHotBlocks } from '#proxy/redis/shared-hot-blocks.ts'
import { type RunningRedis, startRedis } from './redis-server.ts'

/**
 * Ways a link can fail once. `done`, `undone`, `half`: no answer arrives, and the commands are executed, not executed, or
 * executed in part. `twice`: they are executed twice and answered.
 */
export const linkFaults = ['done', 'undone', 'half', 'twice'] as const
/** One of `linkFaults`. */
export type LinkFault = (typeof linkFaults)[number]

const broken: RedisReply = { error: new Error('Connection is closed.') }

/** A connection to a real Redis that fails on request. */
export class FaultyLink implements RedisAccess {
  readonly #redis: RedisAccess
  #fault: LinkFault | undefined

  constructor(redis: RedisAccess) {
    this.#redis = redis
  }

  get isUp(): boolean {
    return this.#redis.isUp
  }

  /** Makes the next write fail. */
  fail(fault: LinkFault): void {
    this.#fault = fault
  }

  read: RedisAccess['read'] = (...args) => this.#redis.read(...args)

  write: RedisAccess['write'] = async (commands) => {
    const fault = this.#fault
    this.#fault = undefined
    if (fault === undefined) return this.#redis.write(commands)
    // like a cluster client, which resends commands that were not answered
    if (fault === 'twice') await this.#redis.write(commands)
    if (fault === 'twice') return this.#redis.write(commands)
    if (fault === 'done') await this.#redis.write(commands)
    if (fault === 'half') await this.#redis.write(commands.slice(0, Math.ceil(commands.length / 2)))
    return commands.map(() => broken)
  }

  listen: RedisAccess['listen'] = (listener) => this.#redis.listen(listener)
}

/** One proxy's hot-block counts, shared over a link that may fail. */
export class HotBlockProxy {
  readonly link: FaultyLink
  readonly hot: SharedHotBlocks
  readonly faults: string[] = []

  constructor(redis: RedisAccess, options: { namespace: string; capacity?: number }) {
    this.link = new FaultyLink(redis)
    const onFault = (reason: string): void => void this.faults.push(reason)
    this.hot = new SharedHotBlocks({ ...options, redis: this.link, ttlSeconds: 100, onFault, pollMilliseconds: 20 })
  }

  /** Notes each named block as requested once, by separate requests. */
  ask(names: Iterable<string>): void {
    for (const name of names) this.hot.note([toBlockId(name)], [sizeOf(name)])
  }

  /** Returns the counts of the named blocks; [NaN] if other blocks are counted too. */
  counts(...names: string[]): number[] {
    const top = new Map(this.hot.top(10_000).map(({ block, count }) => [block, count]))
    const counts = names.map((name) => top.get(toBlockId(name)) ?? 0)
    return top.size > counts.filter((count) => count > 0).length ? [Number.NaN] : counts
  }
}

/** Returns the size of the named block. */
export const sizeOf = (name: string): number => 100 * name.length

/** Exchanges often enough that every proxy has seen all writes, and lost writes have been repeated. */
export async function exchangeAll(...proxies: HotBlockProxy[]): Promise<void> {
  for (let round = 0; round < 4; round++) for (const { hot } of proxies) await hot.share()
}

/** A real Redis, and proxies that share counts through it. */
export class HotBlockProxies {
  readonly server: RunningRedis
  readonly connection: RedisConnection
  namespace = 'n0'
  #begun = 0

  private constructor(server: RunningRedis, connection: RedisConnection) {
    this.server = server
    this.connection = connection
  }

  static async start(): Promise<HotBlockProxies> {
    const server = await startRedis()
    const { connection } = createSharedRedis({ url: server.url, namespace: 'on', ttlSeconds: 100 }, createLog('silent'))
    await connection.connect(5_000)
    return new HotBlockProxies(server, connection)
  }

  /** The Redis key of the counts of the current namespace. */
  get countsKey(): string {
    return hotBlocksRedisKey(this.namespace)
  }

  /** Starts a new namespace, so that proxies created from now on know nothing of earlier ones. */
  begin(): void {
    this.#begun += 1
    this.namespace = `n${this.#begun}`
  }

  create(capacity?: number): HotBlockProxy {
    return new HotBlockProxy(this.connection, {
      namespace: this.namespace,
      ...(capacity === undefined ? {} : { capacity }),
    })
  }

  get #pattern(): string {
    return `reprise:${this.namespace}:hot:*`
  }

  /** Deletes the counts from Redis, and nothing else. */
  async lose(): Promise<void> {
    const { client } = this.server
    for (const key of await client.keys(this.#pattern)) await client.del(key)
  }

  async close(): Promise<void> {
    this.connection.close()
    await this.server.close()
  }
}
