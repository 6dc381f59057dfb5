import type { CacheSize } from '#engine-adapters/cache-config.ts'
import type { Replica } from './replica.ts'

/** A replica whose cache is asked about. */
export type CacheSizeTarget = Pick<Replica, 'id' | 'adapter' | 'state' | 'events' | 'cacheConfig'> & {
  readonly replicaMirror: { readonly state: { readonly generation: string | undefined } }
}

/** How replicas are asked, and who is told. */
export interface CacheSizesOptions<T> {
  /** Never rejects. */
  readonly ask: (target: T) => Promise<CacheSize | undefined>
  /** A replica does not say how large its cache is; told once of each. */
  readonly onUnknown: (target: T) => void
}

/** An engine that did not answer may only be starting. */
const askAgainMilliseconds = 2_000
/** Without reports nobody tells that an engine was started anew with another cache. */
const refreshMilliseconds = 120_000

/** What is known about the asking of one replica. */
interface Asked {
  /** the life of the engine that was seen last */
  life: string
  isDue: boolean
  at: number
  isPending: boolean
  wasTold: boolean
}

/**
 * Keeps the `cacheConfig` of every replica true whose engine tells what it caches: asked when that begins, when the
 * engine begins a new life or is reachable again, and now and then. What an engine said last is believed until it says something else.
 */
export class CacheSizes<T extends CacheSizeTarget> {
  readonly #asked: ReadonlyMap<T, Asked>
  readonly #options: CacheSizesOptions<T>

  constructor(replicas: readonly T[], options: CacheSizesOptions<T>) {
    this.#options = options
    const asking = replicas.filter(({ adapter }) => adapter.cacheSources.length > 0)
    this.#asked = new Map(
      asking.map((replica) => [replica, { life: '', isDue: true, at: 0, isPending: false, wasTold: false }]),
    )
  }

  /** Asks whom it is time to ask; `now` in milliseconds. */
  tick(now: number): void {
    for (const [replica, asked] of this.#asked) {
      const life = lifeOf(replica)
      asked.isDue ||= life !== asked.life
      asked.life = life
      const isOld = now - asked.at >= (replica.cacheConfig ? refreshMilliseconds : askAgainMilliseconds)
      // an engine that tells nothing is left in peace; one that cannot be reached is asked as soon as it is back
      if (!isTelling(replica) || asked.isPending || !isReachable(replica) || !(asked.isDue || isOld)) continue
      asked.isDue = false
      asked.at = now
      void this.#ask(replica, asked)
    }
  }

  async #ask(replica: T, asked: Asked): Promise<void> {
    asked.isPending = true
    const size = await this.#options.ask(replica)
    asked.isPending = false
    if (size) replica.cacheConfig = size
    else if (!asked.wasTold) {
      asked.wasTold = true
      this.#options.onUnknown(replica)
    }
  }
}

/** What changes when the engine is another one than before, or comes back. */
function lifeOf(replica: CacheSizeTarget): string {
  return `${isReachable(replica)} ${replica.replicaMirror.state.generation}`
}

function isTelling({ events, replicaMirror }: CacheSizeTarget): boolean {
  return events !== undefined || replicaMirror.state.generation !== undefined
}

function isReachable({ state }: CacheSizeTarget): boolean {
  return state === 'ready' || state === 'draining'
}
