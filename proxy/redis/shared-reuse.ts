import { isReuseReport, type ReuseReport, toReport } from '../engine-reports/reuse-report.ts'
import type { ReplicaMirror } from '../mirror/replica-mirror.ts'
import { getCommand, setCommand } from './connection/redis-command.ts'
import type { RedisAccess } from './connection/redis-connection.ts'
import { mirrorRedisKeys } from './mirror/mirror-keys.ts'

export interface SharedReuseOptions {
  readonly replicaMirror: Pick<ReplicaMirror, 'replica' | 'reuse' | 'applied' | 'adoptReuse'>
  readonly redis: RedisAccess
  readonly namespace: string
  readonly ttlSeconds: number
  /** names this proxy's life, apart from all others */
  readonly proxy: string
  /** counts what Redis held and could not be relied on, or did not take */
  readonly onFault: (reason: 'redis_value' | 'redis_write') => void
  /** milliseconds, monotonic */
  readonly now?: () => number
}

/** What a proxy has written. */
interface SharedValue {
  readonly proxy: string
  readonly reuse: ReuseReport | null
}

const pollMilliseconds = 500

/**
 * How the engine of one replica reuses KV at any position, shared through Redis: it tells one proxy, in its snapshots, and
 * all of them route by it and pass on what requests wish. Whoever was told last writes it; nothing is written of engines
 * that never do.
 */
export class SharedReuse {
  readonly #options: SharedReuseOptions
  readonly #key: string
  readonly #now: () => number
  #timer: NodeJS.Timeout | undefined
  #turn: Promise<void> | undefined
  /** snapshots of which Redis has been told */
  #told = 0
  /** no other proxy was told later */
  #isSource = false
  #writtenAt = 0

  constructor(options: SharedReuseOptions) {
    this.#options = options
    this.#key = mirrorRedisKeys(options.namespace, options.replicaMirror.replica).reuse
    this.#now = options.now ?? (() => performance.now())
  }

  /** Begins to follow and to write. */
  start(): void {
    void this.share()
    this.#timer = setInterval(() => void this.share(), pollMilliseconds).unref()
  }

  /** Ends behind what is under way. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#turn
  }

  /** Tells Redis what is news here, or learns what is news there; one at a time. */
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

  /** What nobody has said before is not denied either. */
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

/** Undefined for anything that cannot be relied on. */
function readValue(text: unknown): SharedValue | undefined {
  try {
    const { proxy, reuse } = JSON.parse(String(text)) as Record<string, unknown>
    if (typeof proxy !== 'string' || !(reuse === null || isReuseReport(reuse))) return undefined
    return { proxy, reuse }
  } catch {
    return undefined
  }
}
