import { Counter, Gauge, type Registry } from 'prom-client'

/** A replica as the metrics see it. */
interface MirrorStatus {
  readonly replica: string
  readonly kind: string
  readonly mode: 'exact' | 'degraded' | 'fallback'
  /** requests at its engine */
  readonly inFlight: number
}

/** Values that are read when Prometheus scrapes. Without `replicaStates` or `redisUp`, their metric is left out. */
export interface MetricSources {
  queueDepth(): number
  indexNodes(): number
  /** an estimate */
  indexBytes(): number
  /** how full the filter for hot blocks is, from 0 to 1 */
  hotnessFilterLoad(): number
  /** chunks whose borders are known */
  knownChunks?: (() => number) | undefined
  /** how many templates stand where */
  templates?: (() => ReadonlyMap<string, number>) | undefined
  /** one for each replica */
  mirrors(): readonly MirrorStatus[]
  /** applied events from the engines, by type */
  mirrorEvents(): Readonly<Record<string, number>>
  /** the current state of each replica */
  replicaStates?: (() => ReadonlyMap<string, string>) | undefined
  redisUp?: (() => boolean) | undefined
  /** the product's version */
  readonly version?: string | undefined
}

const mirrorModes = { fallback: 0, degraded: 1, exact: 2 }

interface CollectedOptions<Metric> {
  readonly name: string
  readonly help: string
  readonly labelNames: string[]
  readonly registers: Registry[]
  collect(this: Metric): void
}

type AddCollected<Metric> = (
  name: string,
  help: string,
  labelNames: string[],
  collect: (metric: Metric) => void,
) => void

/** Returns a function that adds metrics of one kind, which are read whenever Prometheus scrapes. */
function collectedBy<Metric extends Gauge | Counter>(
  Kind: new (options: CollectedOptions<Metric>) => Metric,
  registry: Registry,
): AddCollected<Metric> {
  return (name, help, labelNames, collect) => {
    new Kind({
      name: `reprise_${name}`,
      help,
      labelNames,
      registers: [registry],
      collect() {
        // a replica or state that is gone is no longer reported
        this.reset()
        collect(this)
      },
    })
  }
}

/** Adds the metrics whose values are read from `sources` when Prometheus scrapes. */
export function addCollectedMetrics(registry: Registry, sources: MetricSources): void {
  const { replicaStates, redisUp, version } = sources
  const gauge = collectedBy(Gauge<string>, registry)
  const counter = collectedBy(Counter<string>, registry)
  gauge('build_info', 'Always 1; the labels say what runs', ['version', 'node'], (info) =>
    info.set({ version: version ?? 'unknown', node: process.versions.node }, 1),
  )
  gauge('queue_depth', 'Requests that wait to be sent', [], (depth) => depth.set(sources.queueDepth()))
  gauge('index_nodes', 'Nodes of the context index', [], (nodes) => nodes.set(sources.indexNodes()))
  gauge('index_bytes', 'Memory of the context index and the mirror, estimated', [], (bytes) =>
    bytes.set(sources.indexBytes()),
  )
  gauge(
    'hotness_filter_load',
    'How full the filter is that counts hot blocks; it doubles when it is full',
    [],
    (load) => load.set(sources.hotnessFilterLoad()),
  )
  gauge('known_chunks', 'Chunks whose borders are known in any prompt', [], (known) =>
    known.set(sources.knownChunks?.() ?? 0),
  )
  gauge('templates', 'Templates of prompts, by where they stand', ['state'], (templates) => {
    for (const [state, count] of sources.templates?.() ?? []) templates.set({ state }, count)
  })
  gauge('mirror_mode', 'How the mirror is fed: 2 exact, 1 degraded, 0 fallback', ['replica'], (mode) => {
    for (const mirror of sources.mirrors()) mode.set({ replica: mirror.replica }, mirrorModes[mirror.mode])
  })
  gauge('in_flight', 'Requests at a replica', ['replica'], (requests) => {
    for (const { replica, inFlight } of sources.mirrors()) requests.set({ replica }, inFlight)
  })
  gauge('replica_info', 'Always 1; the kind of engine a replica is served as', ['replica', 'kind'], (info) => {
    for (const { replica, kind } of sources.mirrors()) info.set({ replica, kind }, 1)
  })
  if (replicaStates) {
    gauge('replica_state', '1 for the state a replica is in', ['replica', 'state'], (current) => {
      for (const [replica, state] of replicaStates()) current.set({ replica, state }, 1)
    })
  }
  if (redisUp) gauge('redis_up', '1 while Redis answers', [], (up) => up.set(redisUp() ? 1 : 0))
  counter('mirror_events_total', 'Events from the engine that were applied', ['type'], (events) => {
    for (const [type, count] of Object.entries(sources.mirrorEvents())) events.inc({ type }, count)
  })
}
