import { randomInt } from 'node:crypto'
import { KnownChunks } from './chunks/known-chunks.ts'
import type { Config } from './config/config.ts'
import { createMetrics, type Metrics } from './metrics.ts'
import type { ReplicaSet } from './replicas/replica-set.ts'
import type { HotBlocks } from './telemetry/hot-blocks/hot-blocks.ts'
import type { TemplateBook } from './templates/template-book.ts'

/** Sources of gauges other than the replicas. */
interface OtherSources {
  readonly version: string
  readonly hot: Pick<HotBlocks, 'load'>
  readonly knownChunks?: () => number
  readonly templates?: Pick<TemplateBook, 'states'>
  readonly redis: { readonly connection: { readonly isUp: boolean } } | undefined
}

/** Creates metrics whose gauges are read from the replicas and the other sources. */
function createReplicaMetrics(
  replicas: ReplicaSet,
  { version, hot, knownChunks, templates, redis }: OtherSources,
): Metrics {
  const total = (read: (replica: ReplicaSet['all'][number]) => number): number =>
    replicas.all.reduce((sum, replica) => sum + read(replica), 0)
  return createMetrics({
    version,
    hotnessFilterLoad: () => hot.load,
    knownChunks,
    templates: templates && (() => templates.states),
    redisUp: redis && (() => redis.connection.isUp),
    queueDepth: () => total(({ admission }) => admission.depth),
    indexNodes: () => total(({ mirror }) => mirror.statistics.nodes),
    indexBytes: () => total(({ mirror }) => mirror.statistics.bytes),
    mirrors: () =>
      replicas.all.map(({ id, adapter, replicaMirror, inFlight }) => {
        return { replica: id, kind: adapter.kind, mode: replicaMirror.state.mode, inFlight }
      }),
    mirrorEvents: countEvents(replicas),
    replicaStates: () => new Map(replicas.all.map(({ id, state }) => [id, state])),
  })
}

/** Counts the events of all replicas; those of replicas that are gone stay counted. */
function countEvents(replicas: ReplicaSet): () => Record<string, number> {
  const events: Record<string, number> = {}
  const counted = new WeakMap<object, Readonly<Record<string, number>>>()
  return () => {
    for (const { replicaMirror } of replicas.all) {
      const before = counted.get(replicaMirror)
      const now = { ...replicaMirror.applied }
      for (const [type, count] of Object.entries(now))
        events[type] = (events[type] ?? 0) + count - (before?.[type] ?? 0)
      counted.set(replicaMirror, now)
    }
    return events
  }
}

/** Creates an empty set of known chunks, and the metrics: each of the two reads the other. */
export function createCountedChunks(
  { chunks: { maxChunks } }: Pick<Config, 'chunks'>,
  replicas: ReplicaSet,
  sources: Omit<OtherSources, 'knownChunks'>,
): { readonly chunks: KnownChunks; readonly metrics: Metrics } {
  const metrics = createReplicaMetrics(replicas, { knownChunks: () => chunks.size, ...sources })
  const chunks = new KnownChunks({
    maxChunks,
    // random, so that proxies which share their chunks do not mix up their orders
    source: randomInt(1, 2 ** 31 - 1),
    onLearned: (source, count) => metrics.chunksLearned.inc({ source }, count),
    onIgnored: (reason, count) => metrics.chunksIgnored.inc({ reason }, count),
  })
  return { chunks, metrics }
}
