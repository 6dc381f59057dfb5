import { createMetrics, type Metrics } from './metrics.ts'
import type { ReplicaSet } from './replicas/replica-set.ts'
import type { HotBlocks } from './telemetry/hot-blocks/hot-blocks.ts'
import type { TemplateBook } from './templates/template-book.ts'

/** Sources of gauges other than the replicas. */
export interface OtherSources {
  readonly version: string
  readonly hot: Pick<HotBlocks, 'load'>
  readonly knownChunks?: () => number
  readonly templates?: Pick<TemplateBook, 'states'>
  readonly redis: { readonly connection: { readonly isUp: boolean } } | undefined
}

/** Creates metrics whose gauges are read from the replicas and the other sources. */
export function createReplicaMetrics(
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
    mirrors: () => replicas.all.map(({ id, replicaMirror }) => ({ replica: id, mode: replicaMirror.state.mode })),
    mirrorEvents: () => {
      const events: Record<string, number> = {}
      for (const { replicaMirror } of replicas.all) {
        for (const [type, count] of Object.entries(replicaMirror.applied)) events[type] = (events[type] ?? 0) + count
      }
      return events
    },
    replicaStates: () => new Map(replicas.all.map(({ id, state }) => [id, state])),
  })
}
