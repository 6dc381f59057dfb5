import { withoutPassword } from '../../config/read-arguments.ts'
import type { Replica, ReplicaState } from '../../replicas/replica.ts'
import type { CheckpointReport, KnownReuse } from '../../replicas/reports/callback-bodies.ts'
import type { Divergence, DivergentTokens } from '../../telemetry/divergence.ts'

/** What the control plane reports about one replica. */
export interface ReplicaDescription {
  readonly replica: string
  /** where the proxy reaches its engine */
  readonly url: string
  readonly mode: string
  readonly generation: string | null
  readonly sequence: number
  readonly requests: number
  readonly cached_tokens: number
  readonly unknown_requests: number
  /** room in the engine's cache as it states it; null if it does not */
  readonly capacity_tokens: number | null
  /** average error of recent predictions, in tokens; null before the first answer */
  readonly divergence: number | null
  /** the same, by cause */
  readonly divergence_by: Omit<DivergentTokens, 'total'> | null
  readonly state: ReplicaState
  /** the models it serves; null: neither the configuration nor the engine has said */
  readonly models: readonly string[] | null
  readonly in_flight: number
  /** what was computed to warm it, while that goes on; null: it counts as equal */
  readonly warming: { readonly requests: number; readonly tokens: number } | null
  /** null if it reports no reuse other than of exact prefixes */
  readonly reuse: KnownReuse | null
  /** null if its layers keep every prefix; `borders`: whether checkpoints are kept where requests name borders */
  readonly checkpoints: (Partial<Omit<CheckpointReport, 'key'>> & { readonly borders: boolean }) | null
}

/** Describes every replica: what its mirror believes, and how it is doing. */
export function describeReplicas(replicas: readonly Replica[], divergence: Divergence): ReplicaDescription[] {
  return replicas.map((one) => {
    const { id: replica, replicaMirror, mirror, engine, reuse, statedCache, models, warming, state, inFlight } = one
    const { mode, generation, sequence } = replicaMirror.state
    const { requests, cachedTokens, unknownRequests } = mirror.statistics
    const off = divergence.get(replica)
    return {
      replica,
      url: withoutPassword(engine.url),
      mode,
      generation: generation ?? null,
      sequence,
      requests,
      cached_tokens: cachedTokens,
      unknown_requests: unknownRequests,
      capacity_tokens: statedCache?.capacityTokens ?? null,
      divergence: off ? Math.round(off.total) : null,
      divergence_by: off
        ? {
            stale_index: Math.round(off.stale_index),
            routing: Math.round(off.routing),
            tokenisation: Math.round(off.tokenisation),
          }
        : null,
      state,
      models: models ? [...models.names] : null,
      in_flight: inFlight,
      warming: warming ? { requests: warming.requests, tokens: warming.tokens } : null,
      reuse: reuse ?? null,
      checkpoints: describeCheckpoints(replicaMirror),
    }
  })
}

function describeCheckpoints({ kept }: Replica['replicaMirror']): ReplicaDescription['checkpoints'] {
  if (!kept) return null
  const { key, ...report }: Partial<CheckpointReport> = kept
  return { ...report, borders: key !== undefined }
}

/** Totals over all mirrors. Heights of trees do not add up, so the largest is reported. */
export function describeIndex(replicas: readonly Pick<Replica, 'mirror'>[]): Record<string, number> {
  const all = replicas.map(({ mirror }) => ({ ...mirror.statistics, height: mirror.height }))
  const total = (key: 'requests' | 'contexts' | 'nodes' | 'bytes'): number =>
    all.reduce((sum, statistics) => sum + statistics[key], 0)
  return {
    size: total('contexts'),
    height: Math.max(0, ...all.map(({ height }) => height)),
    nodes: total('nodes'),
    memory: total('bytes'),
    requests: total('requests'),
    contexts: total('contexts'),
  }
}
