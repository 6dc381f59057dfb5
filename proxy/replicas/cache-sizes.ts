import type { CacheSize } from '#engine-adapters/cache-config.ts'
import type { Replica } from './replica.ts'

/** A replica whose cache size is queried. */
export type CacheSizeTarget = Pick<Replica, 'id' | 'adapter' | 'state' | 'events' | 'cacheConfig' | 'statedCache'> & {
  readonly replicaMirror: { readonly state: { readonly generation: string | undefined } }
}

interface CacheSizesOptions<T> {
  /** Asks a replica for its cache size. Never rejects. */
  readonly ask: (target: T) => Promise<CacheSize | undefined>
  /** Whether estimates are wanted, for which engines that report nothing are asked, too. */
  readonly wantsEstimates: () => boolean
  /** Called once for each replica that reports what it caches and does not say how large its cache is. */
  readonly onUnknown: (target: T) => void
}

/** An engine that did not answer may still be starting. */
const askAgainMilliseconds = 2_000
/** For an engine that reports nothing, only estimates need the size. */
const askForEstimatesMilliseconds = 10_000
/** Without reports we do not learn that an engine was restarted with another cache. */
const refreshMilliseconds = 120_000

/** The query state of one replica. */
interface Asked {
  /** the last seen result of `lifeOf` */
  life: string
  /** its last answer may be that of an earlier life */
  isStale: boolean
  isDue: boolean
  at: number
  isPending: boolean
  wasTold: boolean
}

/**
 * Keeps `statedCache` up to date, and `cacheConfig` for replicas whose engine reports what it caches. Other engines are
 * asked for estimates only.
 * Asks an engine when it starts to report, restarts or becomes reachable again, and periodically. Its last answer is
 * valid until the next.
 */
export class CacheSizes<T extends CacheSizeTarget> {
  readonly #replicas: () => readonly T[]
  readonly #asked = new WeakMap<T, Asked>()
  readonly #options: CacheSizesOptions<T>

  /** `replicas`: those there are now. */
  constructor(replicas: () => readonly T[], options: CacheSizesOptions<T>) {
    this.#replicas = replicas
    this.#options = options
  }

  /** Asks the replicas that are due; `now` in milliseconds. */
  tick(now: number): void {
    for (const replica of this.#replicas()) {
      if (replica.adapter.cacheSources.length > 0) this.#askIfDue(replica, now)
    }
  }

  #askIfDue(replica: T, now: number): void {
    const asked = this.#asked.get(replica) ?? {
      life: '',
      isStale: true,
      isDue: true,
      at: 0,
      isPending: false,
      wasTold: false,
    }
    this.#asked.set(replica, asked)
    const life = lifeOf(replica)
    if (life !== asked.life) Object.assign(asked, { isStale: true, isDue: true })
    asked.life = life
    const isOld = now - asked.at >= pauseOf(replica, asked)
    // an unreachable engine is asked as soon as it is back
    if (asked.isPending || !isReachable(replica) || !(asked.isDue || isOld)) return
    if (!isTelling(replica) && !this.#options.wantsEstimates()) return
    asked.isDue = false
    asked.at = now
    void this.#ask(replica, asked)
  }

  async #ask(replica: T, asked: Asked): Promise<void> {
    asked.isPending = true
    const { life } = asked
    const size = await this.#options.ask(replica)
    asked.isPending = false
    if (size) {
      asked.isStale = life !== asked.life
      replica.statedCache = size
      if (isTelling(replica)) replica.cacheConfig = size
    } else if (isTelling(replica) && !asked.wasTold) {
      asked.wasTold = true
      this.#options.onUnknown(replica)
    }
  }
}

/** A string that changes when the engine is replaced or restarted, or comes back. */
function lifeOf(replica: CacheSizeTarget): string {
  return `${isReachable(replica)} ${replica.replicaMirror.state.generation}`
}

function pauseOf(replica: CacheSizeTarget, { isStale }: Asked): number {
  if (replica.statedCache && !isStale) return refreshMilliseconds
  return isTelling(replica) ? askAgainMilliseconds : askForEstimatesMilliseconds
}

function isTelling({ events, replicaMirror }: CacheSizeTarget): boolean {
  return events !== undefined || replicaMirror.state.generation !== undefined
}

function isReachable({ state }: CacheSizeTarget): boolean {
  return state === 'ready' || state === 'draining'
}
