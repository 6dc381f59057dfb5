import { Counter, Gauge, type Registry } from 'prom-client'
import type { Replica } from '../replicas/replica.ts'
import type { ReplicaSet } from '../replicas/replica-set.ts'
import type { TemplateBook } from '../templates/template-book.ts'
import type { HotBlocks } from './hot-blocks/hot-blocks.ts'

/** What is read when Prometheus scrapes. Without `redis`, its metric is left out. */
export interface MetricSources {
  readonly version: string
  readonly replicas: Pick<ReplicaSet, 'all'>
  readonly hot: Pick<HotBlocks, 'load'>
  readonly knownChunks: () => number
  readonly templates: Pick<TemplateBook, 'states'>
  readonly redis: { readonly connection: { readonly isUp: boolean } } | undefined
}

const mirrorModes = { fallback: 0, degraded: 1, exact: 2 }

/** Adds the metrics whose values are read from `sources` when Prometheus scrapes. */
export function addCollectedMetrics(registry: Registry, sources: MetricSources): void {
  const { version, replicas, hot, knownChunks, templates, redis } = sources
  const total = (read: (replica: Replica) => number): number =>
    replicas.all.reduce((sum, replica) => sum + read(replica), 0)
  const gauge = (name: string, help: string, labelNames: string[], collect: (metric: Gauge) => void): unknown =>
    new Gauge({
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
  gauge('build_info', 'Always 1; the labels say what runs', ['version', 'node'], (info) =>
    info.set({ version, node: process.versions.node }, 1),
  )
  gauge('queue_depth', 'Requests that wait to be sent', [], (depth) =>
    depth.set(total(({ admission }) => admission.depth)),
  )
  gauge('index_nodes', 'Nodes of the context index', [], (nodes) =>
    nodes.set(total(({ mirror }) => mirror.statistics.nodes)),
  )
  gauge('index_bytes', 'Memory of the context index and the mirror, estimated', [], (bytes) =>
    bytes.set(total(({ mirror }) => mirror.statistics.bytes)),
  )
  gauge(
    'hotness_filter_load',
    'How full the filter is that counts hot blocks; it doubles when it is full',
    [],
    (load) => load.set(hot.load),
  )
  gauge('known_chunks', 'Chunks whose borders are known in any prompt', [], (known) => known.set(knownChunks()))
  gauge('templates', 'Templates of prompts, by where they stand', ['state'], (standing) => {
    for (const [state, count] of templates.states) standing.set({ state }, count)
  })
  gauge('mirror_mode', 'How the mirror is fed: 2 exact, 1 degraded, 0 fallback', ['replica'], (mode) => {
    for (const { id: replica, replicaMirror } of replicas.all)
      mode.set({ replica }, mirrorModes[replicaMirror.state.mode])
  })
  gauge('in_flight', 'Requests at a replica', ['replica'], (requests) => {
    for (const { id: replica, inFlight } of replicas.all) requests.set({ replica }, inFlight)
  })
  gauge('replica_info', 'Always 1; the kind of engine a replica is served as', ['replica', 'kind'], (info) => {
    for (const { id: replica, adapter } of replicas.all) info.set({ replica, kind: adapter.kind }, 1)
  })
  gauge('replica_state', '1 for the state a replica is in', ['replica', 'state'], (current) => {
    for (const { id: replica, state } of replicas.all) current.set({ replica, state }, 1)
  })
  if (redis) gauge('redis_up', '1 while Redis answers', [], (up) => up.set(redis.connection.isUp ? 1 : 0))
  countEvents(registry, replicas)
}

/** Counts the events of all replicas; those of replicas that are gone stay counted. */
function countEvents(registry: Registry, replicas: MetricSources['replicas']): void {
  const counted = new WeakMap<object, Readonly<Record<string, number>>>()
  new Counter({
    name: 'reprise_mirror_events_total',
    help: 'Events from the engine that were applied',
    labelNames: ['type'],
    registers: [registry],
    collect() {
      for (const { replicaMirror } of replicas.all) {
        const before = counted.get(replicaMirror)
        const now = { ...replicaMirror.applied }
        for (const [type, count] of Object.entries(now)) this.inc({ type }, count - (before?.[type] ?? 0))
        counted.set(replicaMirror, now)
      }
    },
  })
}
