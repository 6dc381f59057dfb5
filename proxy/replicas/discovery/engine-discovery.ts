import type { Log } from '../../common/log.ts'
import type { EngineConfig } from '../../config/config.ts'
import type { FoundEngine } from '../../config/read-files.ts'
import type { EnginePlace } from './resolve-engine.ts'
import { namePlaces, type PlaceNames, toEngines } from './to-engines.ts'

/** How often names are resolved again. */
const againMilliseconds = 5_000

interface DiscoveryOptions {
  /** Resolves the name of an engine. May reject. */
  readonly resolve: (engine: EngineConfig) => Promise<readonly EnginePlace[]>
  /** Called with all engines that there are now, whenever that may have changed. */
  readonly onFound: (engines: readonly FoundEngine[]) => Promise<void>
  readonly log: Pick<Log, 'info' | 'warn'>
}

/** An engine whose name cannot be resolved now. */
export interface UnresolvedEngine {
  readonly engine: string
  readonly fault: string
}

/** What a name led to when it was resolved last. */
interface Resolved {
  places: readonly EnginePlace[]
  /** what these are called, as long as they are there */
  names: PlaceNames
  /** why it could not be resolved since; undefined: it could */
  fault: string | undefined
}

/**
 * Finds the engines that are there: those that are named one by one, and those behind names in DNS, which are resolved
 * again and again. A name that cannot be resolved, or leads nowhere, leaves its engines as they were: a fault of DNS
 * must not take everything down.
 */
export class EngineDiscovery {
  readonly #options: DiscoveryOptions
  #wanted: readonly FoundEngine[] = []
  readonly #resolved = new Map<string, Resolved>()
  #timer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(options: DiscoveryOptions) {
    this.#options = options
  }

  /**
   * Replaces what is configured. Engines that are named themselves are found at once; resolves when names have been
   * resolved, too.
   */
  async set(wanted: readonly FoundEngine[]): Promise<void> {
    this.#wanted = wanted
    const names = new Set(wanted.map(keyOf))
    for (const name of this.#resolved.keys()) if (!names.has(name)) this.#resolved.delete(name)
    await this.#tell()
    await this.look()
  }

  /** The engines whose names cannot be resolved now: those found earlier stay, and the names are tried again. */
  get unresolved(): UnresolvedEngine[] {
    return this.#wanted.flatMap((found) => {
      if (found.engine.discover === undefined) return []
      const { places = [], fault } = this.#resolved.get(keyOf(found)) ?? {}
      if (fault === undefined && places.length > 0) return []
      return [{ engine: found.engine.id, fault: fault ?? 'no answer yet' }]
    })
  }

  /** Resolves names no more. */
  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
  }

  /** Resolves names at once. */
  async look(): Promise<void> {
    clearTimeout(this.#timer)
    const wanted = this.#wanted
    const named = wanted.filter(({ engine }) => engine.discover !== undefined)
    if (named.length === 0) return
    await Promise.all(named.map((found) => this.#resolve(found)))
    // replaced meanwhile: another look is under way
    if (wanted !== this.#wanted || this.#isClosed) return
    await this.#tell()
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.look(), againMilliseconds)
    this.#timer.unref()
  }

  async #resolve(found: FoundEngine): Promise<void> {
    const { resolve } = this.#options
    const known = this.#resolved.get(keyOf(found)) ?? { places: [], names: new Map(), fault: undefined }
    this.#resolved.set(keyOf(found), known)
    const places = await resolve(found.engine).catch((error: Error) => error)
    // no longer configured
    if (this.#resolved.get(keyOf(found)) !== known) return
    if (!(places instanceof Error) && places.length > 0) {
      this.#found(found, known, places)
      return
    }
    const fault = places instanceof Error ? places.message : 'it leads to no address'
    if (fault === known.fault) return
    known.fault = fault
    const { id, url } = found.engine
    this.#options.log.warn(
      { engine: id, host: new URL(url).hostname, fault, engines: known.places.length },
      'the name of engines cannot be resolved: those that were found stay',
    )
  }

  #found(found: FoundEngine, known: Resolved, places: readonly EnginePlace[]): void {
    const names = namePlaces(places, known.names)
    const replicas = toEngines(found, places, names).map(({ engine }) => engine.id)
    if (known.fault !== undefined || [...known.names.values()].join(' ') !== [...names.values()].join(' '))
      this.#options.log.info({ engine: found.engine.id, replicas }, 'engines found by name')
    known.fault = undefined
    known.places = places
    known.names = names
  }

  #tell(): Promise<void> {
    const taken = new Set<string>()
    const all = this.#wanted.flatMap((found) => {
      if (found.engine.discover === undefined) return [found]
      const { places = [], names } = this.#resolved.get(keyOf(found)) ?? {}
      return toEngines(found, places, names)
    })
    // of two engines of one name the first counts, always
    const own = all.filter(({ engine: { id } }) => !taken.has(id) && taken.add(id))
    // none yet behind any of the names: those before stay, rather than nobody being there
    return own.length === 0 ? Promise.resolve() : this.#options.onFound(own)
  }
}

/** What decides where a name leads. */
function keyOf({ engine: { url, discover } }: FoundEngine): string {
  return `${discover} ${url}`
}
