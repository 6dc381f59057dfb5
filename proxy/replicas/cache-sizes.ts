import type { CacheSize } from '#engine-adapters/cache-config.ts'
import { RepeatedQuestions } from './repeated-questions.ts'
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

/**
 * Keeps `statedCache` up to date, and `cacheConfig` for replicas whose engine reports what it caches. Other engines are
 * asked for estimates only.
 * Asks an engine when it starts to report, restarts or becomes reachable again, and periodically. Its last answer is
 * valid until the next.
 */
export class CacheSizes<T extends CacheSizeTarget> {
  readonly #replicas: () => readonly T[]
  readonly #options: CacheSizesOptions<T>
  readonly #questions = new RepeatedQuestions<T>((replica) => this.#ask(replica))
  /** the life of its engine in which each was last asked, and in which it last answered */
  readonly #asked = new WeakMap<T, string>()
  readonly #answered = new WeakMap<T, string>()
  readonly #told = new WeakSet<T>()

  /** `replicas`: those there are now. */
  constructor(replicas: () => readonly T[], options: CacheSizesOptions<T>) {
    this.#replicas = replicas
    this.#options = options
  }

  /** Asks the replicas that are due; `now` in milliseconds. */
  tick(now: number): void {
    for (const replica of this.#replicas()) {
      // an unreachable engine is asked as soon as it is back
      if (replica.state !== 'ready' && replica.state !== 'draining') this.#asked.delete(replica)
      else if (replica.adapter.cacheSources.length > 0 && (isTelling(replica) || this.#options.wantsEstimates()))
        void this.#questions.askAfter(this.#pauseOf(replica), replica, now)
    }
  }

  #pauseOf(replica: T): number {
    const life = lifeOf(replica)
    if (this.#asked.get(replica) !== life) return 0
    if (replica.statedCache && this.#answered.get(replica) === life) return refreshMilliseconds
    return isTelling(replica) ? askAgainMilliseconds : askForEstimatesMilliseconds
  }

  async #ask(replica: T): Promise<void> {
    const life = lifeOf(replica)
    this.#asked.set(replica, life)
    const size = await this.#options.ask(replica)
    if (size) {
      this.#answered.set(replica, life)
      replica.statedCache = size
      if (isTelling(replica)) replica.cacheConfig = size
    } else if (isTelling(replica) && !this.#told.has(replica)) {
      this.#told.add(replica)
      this.#options.onUnknown(replica)
    }
  }
}

/** A string that changes when the engine is replaced or restarted. */
function lifeOf({ replicaMirror }: CacheSizeTarget): string {
  return String(replicaMirror.state.generation)
}

function isTelling({ events, replicaMirror }: CacheSizeTarget): boolean {
  return events !== undefined || replicaMirror.state.generation !== undefined
}
