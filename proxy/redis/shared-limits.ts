import { tryJson } from '#engine-adapters/json-object.ts'
import type { ApiKeys, KeyEntry } from '../access/api-keys.ts'
import { isLimited, type KeyUse, type RateLimits } from '../access/rate-limits.ts'
import { limitsRedisKey } from './redis-keys.ts'
import { SharedPart, type SharedPartOptions, type StreamEntry } from './shared-part.ts'

interface SharedLimitsOptions extends SharedPartOptions {
  readonly limits: RateLimits
  readonly keys: () => Pick<ApiKeys, 'entries'>
  /** unique id of this run of this proxy */
  readonly proxy: string
  /** milliseconds, as the limits are asked */
  readonly now: () => number
}

const pollMilliseconds = 100
const readAtOnce = 256
/** A bucket is full again after a minute, whatever was used before. */
const keptSeconds = 60
/** Keys are named in Redis by the beginning of their hash. */
const nameLength = 16
const most = 1e12

/**
 * Shares the use of API keys through Redis: a feed to which each proxy adds what its requests took, and from which it
 * takes what others added off its own buckets. So requests are limited here, without waiting, by what all proxies have
 * used a tenth of a second ago; what was too much is paid off before the next one. A proxy that starts reads the last
 * minute. While Redis is away, each proxy limits by what it sees itself.
 */
export class SharedLimits extends SharedPart<SharedLimitsOptions> {
  readonly #key: string
  #seen = '0-0'
  #entries: readonly KeyEntry[] = []
  #named = new Map<string, KeyEntry>()

  constructor(options: SharedLimitsOptions) {
    super(options, pollMilliseconds)
    this.#key = limitsRedisKey(options.namespace)
  }

  override share(): Promise<void> {
    if (!this.options.redis.isUp) this.#drop(this.options.limits.takeNews())
    return super.share()
  }

  protected async exchange(): Promise<void> {
    const { entries } = this.options.keys()
    if (entries !== this.#entries) {
      this.#entries = entries
      this.#named = new Map(entries.filter(isLimited).map((key) => [key.id.slice(0, nameLength), key]))
    }
    if (this.#named.size === 0) return
    await this.#tell()
    await this.#hear()
  }

  async #tell(): Promise<void> {
    const { redis, limits, proxy } = this.options
    const news = limits.takeNews()
    if (news.size === 0) return
    const uses = [...news].map(([id, { requests, tokens }]) => [id.slice(0, nameLength), requests, tokens])
    const oldest = Math.max(0, timeOf(this.#seen) - keptSeconds * 1000)
    const args = [this.#key, 'MINID', '~', oldest, '*', proxy, JSON.stringify(uses)]
    const replies = await redis.write([
      { key: this.#key, name: 'xadd', args },
      { key: this.#key, name: 'expire', args: [this.#key, keptSeconds] },
    ])
    if ('error' in replies[0]!) this.#drop(news)
  }

  /** Others are not told later: they would have to refuse now what was used long ago. */
  #drop(news: ReadonlyMap<string, KeyUse>): void {
    const requests = [...news.values()].reduce((sum, use) => sum + use.requests, 0)
    if (requests > 0) this.options.onFault('redis_limits', requests)
  }

  async #hear(): Promise<void> {
    const heard: StreamEntry[] = []
    let entries: readonly StreamEntry[]
    do {
      entries = (await this.readStream(this.#key, this.#seen, readAtOnce)) ?? []
      heard.push(...entries)
      this.#seen = entries.at(-1)?.id ?? this.#seen
    } while (entries.length === readAtOnce)
    for (const entry of heard) this.#adopt(entry)
  }

  #adopt({ id, fields: [proxy, text] }: StreamEntry): void {
    const { limits, now, onFault } = this.options
    const uses = tryJson(String(text))
    const areUses = Array.isArray(uses) && uses.every(isUse)
    if (!areUses) onFault('redis_value')
    // Counted from the newest entry, so that only the clock of Redis matters. Redis drops a feed that is a minute old.
    const age = timeOf(this.#seen) - timeOf(id)
    if (String(proxy) === this.options.proxy || age > keptSeconds * 1000) return
    for (const [name, requests, tokens] of areUses ? uses : []) {
      const key = this.#named.get(name)
      if (key) limits.adopt(key, { requests, tokens }, now() - age)
    }
  }
}

/** Milliseconds, by the clock of Redis. */
function timeOf(id: string): number {
  return Number.parseInt(id, 10)
}

/** Whether this says what was used of a key. */
function isUse(value: unknown): value is [name: string, requests: number, tokens: number] {
  if (!Array.isArray(value) || value.length !== 3) return false
  const [name, requests, tokens] = value as unknown[]
  const areCounts = [requests, tokens].every((count) => typeof count === 'number' && Math.abs(count) <= most)
  return typeof name === 'string' && areCounts && (requests as number) >= 0
}
