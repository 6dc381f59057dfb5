import { tryObject } from '#engine-adapters/json-object.ts'
import type { ReplicaMirror } from '../replicas/mirror/replica-mirror.ts'
import { isReuseReport, type ReuseReport, toReport } from '../replicas/reports/reuse-report.ts'
import { getCommand, setCommand } from './connection/redis-command.ts'
import { mirrorRedisKeys } from './redis-keys.ts'
import { SharedPart, type SharedPartOptions } from './shared-part.ts'

interface SharedReuseOptions extends SharedPartOptions {
  readonly replicaMirror: Pick<ReplicaMirror, 'replica' | 'reuse' | 'applied' | 'adoptReuse'>
  /** unique id of this run of this proxy */
  readonly proxy: string
  /** milliseconds, monotonic */
  readonly now?: () => number
}

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
export class SharedReuse extends SharedPart {
  readonly #options: SharedReuseOptions
  readonly #key: string
  readonly #now: () => number
  /** the number of snapshots that Redis reflects */
  #told = 0
  /** no other proxy has a later report */
  #isSource = false
  #writtenAt = 0

  constructor(options: SharedReuseOptions) {
    super(options, pollMilliseconds)
    this.#options = options
    this.#key = mirrorRedisKeys(options.namespace, options.replicaMirror.replica).reuse
    this.#now = options.now ?? (() => performance.now())
  }

  protected async exchange(): Promise<void> {
    const { redis, replicaMirror, proxy, onFault } = this.#options
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
  const { proxy, reuse } = tryObject(String(text)) ?? {}
  return typeof proxy === 'string' && (reuse === null || isReuseReport(reuse)) ? { proxy, reuse } : undefined
}
