import type { CacheEvent, SentPrompt } from '#index/cache-event.ts'
import { digestOf, type ReplicaId, type RequestId, toBlockId } from '#index/context-block.ts'
import { CacheMirror } from '#index/mirror/cache-mirror.ts'
import { createLog } from '#proxy/common/log.ts'
import type { RedisAccess } from '#proxy/redis/connection/redis-connection.ts'
import { createSharedRedis, type SharedRedis } from '#proxy/redis/create-shared-redis.ts'
import { SharedMirror } from '#proxy/redis/mirror/shared-mirror.ts'
import { ReplicaMirror } from '#proxy/replicas/mirror/replica-mirror.ts'
import { waitFor } from './redis-server.ts'

export interface MirrorProxyOptions {
  readonly url: string
  readonly replica?: string
  readonly maxRequests?: number
  /** offset of its clock, in milliseconds */
  readonly clockOffset?: number
}

/** A connection whose writes can be held back until `goOn`, to simulate a slow proxy. */
class HeldUpRedis implements RedisAccess {
  readonly #redis: RedisAccess
  #gate: Promise<void> = Promise.resolve()
  goOn: () => void = () => {}
  /** thrown at the next write, to simulate a bug */
  fault: Error | undefined
  /** only a read behind this entry throws it */
  faultAt: string | undefined

  constructor(redis: RedisAccess) {
    this.#redis = redis
  }

  get isUp(): boolean {
    return this.#redis.isUp
  }

  hold(): void {
    this.#gate = new Promise((resolve) => {
      this.goOn = resolve
    })
  }

  read: RedisAccess['read'] = (...args) => this.#redis.read(...args)

  write: RedisAccess['write'] = async (commands) => {
    await this.#gate
    const { fault } = this
    const isMeant = this.faultAt === undefined || commands[0]?.args.at(-1) === this.faultAt
    if (fault && isMeant) {
      this.fault = undefined
      throw fault
    }
    return this.#redis.write(commands)
  }

  listen: RedisAccess['listen'] = (listener) => this.#redis.listen(listener)
}

/** One proxy's mirror of a replica, shared through Redis. */
export class MirrorProxy {
  readonly mirror: CacheMirror
  readonly replicaMirror: ReplicaMirror
  readonly shared: SharedMirror
  readonly redis: SharedRedis
  readonly link: HeldUpRedis
  readonly faults: string[] = []
  readonly errors: unknown[] = []

  constructor({ url, replica = 'engine', maxRequests = 10_000, clockOffset = 0 }: MirrorProxyOptions) {
    this.redis = createSharedRedis({ url, namespace: 'test', ttlSeconds: 100 }, createLog('silent'))
    this.mirror = new CacheMirror({ maxRequests, maxBlocks: 16 * maxRequests })
    this.replicaMirror = new ReplicaMirror(replica as ReplicaId, this.mirror)
    this.link = new HeldUpRedis(this.redis.connection)
    this.shared = new SharedMirror({
      replicaMirror: this.replicaMirror,
      redis: this.link,
      namespace: 'test',
      ttlSeconds: 100,
      wallClock: () => Date.now() + clockOffset,
      onFault: (reason) => this.faults.push(reason),
      onError: (error) => this.errors.push(error),
      faultMilliseconds: 50,
      pollMilliseconds: 5,
    })
  }

  /** Connects and starts sharing. */
  async start(): Promise<this> {
    await this.redis.connection.connect(2_000)
    this.shared.start()
    return this
  }

  send(request: string, ...blocks: string[]): void {
    this.apply({ type: 'sent', request: request as RequestId, prompt: promptOf(...blocks) })
  }

  apply(event: CacheEvent): void {
    this.mirror.apply(event)
  }

  /** Reports events as an engine does. Resolves with the answer the engine would get. */
  report(generation: string, sequence: number, cached: Readonly<Record<string, number>>): Promise<object> {
    const events = Object.entries(cached).map(([request_id, cached_tokens]) => {
      return { type: cached_tokens > 0 ? 'stored' : 'evicted', request_id, cached_tokens }
    })
    return this.replicaMirror.takeEvents(async () => ({ generation, sequence, events }))
  }

  snapshot(generation: string, sequence: number, cached: Readonly<Record<string, number>> = {}): Promise<object> {
    const requests = Object.entries(cached).map(([request_id, cached_tokens]) => ({ request_id, cached_tokens }))
    return this.replicaMirror.takeSnapshot(async () => ({ generation, sequence, requests }))
  }

  /** All beliefs, except about requests with nothing held. */
  get beliefs(): Record<string, unknown> {
    const all = [...this.mirror.requestIds()].map((request) => [request, this.mirror.recall(request)!] as const)
    return Object.fromEntries(
      all.filter(([, { heldLength }]) => heldLength > 0).toSorted(([a], [b]) => (a < b ? -1 : 1)),
    )
  }

  /** The held length of each request with something held. */
  get held(): Record<string, number> {
    const beliefs = this.beliefs as Record<string, { heldLength: number }>
    return Object.fromEntries(Object.entries(beliefs).map(([request, { heldLength }]) => [request, heldLength]))
  }

  async close(): Promise<void> {
    this.link.goOn()
    await this.shared.close(0)
    this.redis.connection.close()
  }
}

/** Returns a prompt with a system text, blocks and a question, each of 100 characters. */
export function promptOf(...names: string[]): SentPrompt {
  const ends = names.map((_, i) => 200 + 100 * i)
  const scope = digestOf('system')
  const prefixes = names.map((_, i) => digestOf(`system|${names.slice(0, i + 1).join('|')}`))
  return {
    contexts: [{ scope, blocks: names.map(toBlockId), sizes: names.map(() => 100), ends }],
    prefixes: [scope, ...prefixes],
    ends: [100, ...ends],
    length: 200 + 100 * names.length,
  }
}

/** Resolves once nothing waits to be written and all proxies believe the same. */
export async function agree(...proxies: MirrorProxy[]): Promise<void> {
  await waitFor(() => {
    const texts = proxies.map(({ beliefs, replicaMirror: { state } }) => {
      return JSON.stringify([beliefs, state.generation, state.sequence])
    })
    return proxies.every(({ shared }) => shared.waiting === 0) && new Set(texts).size === 1
  }, 5_000)
}
