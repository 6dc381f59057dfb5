import { isReuseReport, type ReuseReport, toReport } from '../engine-reports/reuse-report.ts'
import type { ReplicaMirror } from '../mirror/replica-mirror.ts'
import type { RedisFault } from '../reasons.ts'
import { getCommand, setCommand } from './connection/redis-command.ts'
import type { RedisAccess } from './connection/redis-connection.ts'
import { mirrorRedisKeys } from './mirror/mirror-keys.ts'

interface SharedReuseOptions {
  readonly replicaMirror: Pick<ReplicaMirror, 'replica' | 'reuse' | 'applied' | 'adoptReuse'>
  readonly redis: RedisAccess
  readonly namespace: string
  readonly ttlSeconds: number
  /** unique id of this run of this proxy */
  readonly proxy: string
  /** counts invalid values in Redis, and writes that it rejected */
  readonly onFault: (reason: RedisFault) => void
  /** milliseconds, monotonic */
  readonly now?: () => number
}

/** The value in Redis. */
interface SharedValue {
  readonly proxy: string
  readonly reuse: ReuseReport | null
}

const pollMilliseconds = 500

/**
 * Shares through Redis how the engine of one replica reuses KV at any position. The engine reports this to one proxy,
 * in its snapshots; all proxies route by it and pass on what requests ask for. The proxy with the latest report writes
 * it. Nothing is written for engines that never report such reuse.
 */
export class SharedReuse {
  readonly #options: SharedReuseOptions
  readonly #key: string
  readonly #now: () => number
  #timer: NodeJS.Timeout | undefined
  #turn: Promise<void> | undefined
  /** the number of snapshots that Redis reflects */
  #told = 0
  /** no other proxy has a later report */
  #isSource = false
  #writtenAt = 0

  constructor(options: SharedReuseOptions) {
    this.#options = options
    this.#key = mirrorRedisKeys(options.namespace, options.replicaMirror.replica).reuse
    this.#now = options.now ?? (() => performance.now())
  }

  /** Starts to follow and to write. */
  start(): void {
    void this.share()
    this.#timer = setInterval(() => void this.share(), pollMilliseconds).unref()
  }

  /** Stops after the turn in progress. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#turn
  }

  /** Writes local news to Redis, or reads news from it. Concurrent calls share one turn. */
  share(): Promise<void> {
    this.#turn ??= this.#share().finally(() => {
      this.#turn = undefined
    })
    return this.#turn
  }

  async #share(): Promise<void> {
    const { redis, replicaMirror, proxy, onFault } = this.#options
    if (!redis.isUp) return
    const [reply] = await redis.write([getCommand(this.#key)])
    if (!reply || 'error' in reply) return
    const heard = replicaMirror.applied.snapshot
    const isNews = heard !== this.#told
    if (isNews) this.#isSource = true
    const known = reply.value === null ? undefined : readValue(reply.value)
    if (!known && reply.value !== null) onFault('redis_value')
    if (known && known.proxy !== proxy && !isNews) this.#learn(known)
    else if (this.#isSource && this.#isDue(known, isNews)) await this.#write(heard)
    else this.#told = heard
  }

  #learn({ reuse }: SharedValue): void {
    this.#isSource = false
    this.#options.replicaMirror.adoptReuse(reuse)
  }

  /** Whether to write. If Redis has no value, there is no need to write that the engine does not reuse. */
  #isDue(known: SharedValue | undefined, isNews: boolean): boolean {
    const { replicaMirror, ttlSeconds } = this.#options
    if (!known) return replicaMirror.reuse !== undefined
    return isNews || this.#now() - this.#writtenAt > (ttlSeconds * 1000) / 3
  }

  async #write(heard: number): Promise<void> {
    const { redis, replicaMirror, proxy, ttlSeconds, onFault } = this.#options
    const { reuse } = replicaMirror
    const value: SharedValue = { proxy, reuse: reuse ? toReport(reuse) : null }
    const [reply] = await redis.write([setCommand(this.#key, JSON.stringify(value), ttlSeconds)])
    if (!reply || 'error' in reply) return onFault('redis_write')
    this.#told = heard
    this.#writtenAt = this.#now()
  }
}

/** Decodes a value. Returns undefined if it is invalid. */
function readValue(text: unknown): SharedValue | undefined {
  try {
    const { proxy, reuse } = JSON.parse(String(text)) as Record<string, unknown>
    if (typeof proxy !== 'string' || !(reuse === null || isReuseReport(reuse))) return undefined
    return { proxy, reuse }
  } catch {
    return undefined
  }
}
