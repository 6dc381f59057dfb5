import type { CacheSize } from '#engine-adapters/cache-config.ts'
import { repeatedly } from './repeated-questions.ts'
import type { Replica } from './replica.ts'

/** A replica whose cache size is queried. */
export type CacheSizeTarget = Pick<Replica, 'id' | 'adapter' | 'state' | 'events' | 'cacheConfig' | 'statedCache'> & {
  readonly replicaMirror: { readonly state: { readonly generation: string | undefined } }
}

interface CacheSizesOptions<T> {
  /** Asks a replica for its cache size. Never rejects. */
  readonly ask: (target: T, signal: AbortSignal) => Promise<CacheSize | undefined>
  /** Whether estimates are wanted, for which engines that report nothing are asked, too. */
  readonly wantsEstimates: () => boolean
  /** Called once for each replica that reports what it caches and does not say how large its cache is. */
  readonly onUnknown: (target: T) => void
  readonly closing?: AbortSignal
}

const answerMilliseconds = 5_000

/** An engine that did not answer may still be starting. */
const askAgainMilliseconds = 2_000
/** For an engine that reports nothing, only estimates need the size. */
const askForEstimatesMilliseconds = 10_000
/** Without reports we do not learn that an engine was restarted with another cache. */
const refreshMilliseconds = 120_000

/**
 * Returns what keeps `statedCache` up to date, and `cacheConfig` for replicas whose engine reports what it caches; to be
 * called periodically, with the time in milliseconds. Other engines are asked for estimates only. Asks an engine when it
 * starts to report, restarts or becomes reachable again, and now and then. Its last answer is valid until the next.
 * `replicas`: those there are now.
 */
export function followCacheSizes<T extends CacheSizeTarget>(
  replicas: () => readonly T[],
  { ask, wantsEstimates, onUnknown, closing }: CacheSizesOptions<T>,
): (now: number) => void {
  /** the life of its engine in which each was last asked, and in which it last answered */
  const [asked, answered] = [new WeakMap<T, string>(), new WeakMap<T, string>()]
  const told = new WeakSet<T>()
  const pauseOf = (replica: T): number => {
    const life = lifeOf(replica)
    if (asked.get(replica) !== life) return 0
    if (replica.statedCache && answered.get(replica) === life) return refreshMilliseconds
    return isTelling(replica) ? askAgainMilliseconds : askForEstimatesMilliseconds
  }
  const askOne = async (replica: T, signal: AbortSignal): Promise<void> => {
    const life = lifeOf(replica)
    asked.set(replica, life)
    const size = await ask(replica, signal)
    if (size) {
      answered.set(replica, life)
      replica.statedCache = size
      if (isTelling(replica)) replica.cacheConfig = size
    } else if (isTelling(replica) && !told.has(replica) && !closing?.aborted) {
      told.add(replica)
      onUnknown(replica)
    }
  }
  const askAfter = repeatedly(askOne, answerMilliseconds, closing)
  return (now) => {
    for (const replica of replicas()) {
      // an unreachable engine is asked as soon as it is back
      if (replica.state !== 'ready' && replica.state !== 'draining') asked.delete(replica)
      else if (replica.adapter.cacheSources.length > 0 && (isTelling(replica) || wantsEstimates()))
        void askAfter(pauseOf(replica), replica, now)
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
