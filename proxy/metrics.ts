import { Counter, Gauge, Histogram, Registry } from 'prom-client'

/** What is measured (CONTRACT §5); the text for Prometheus comes from `registry`. */
export interface Metrics {
  readonly registry: Registry
  readonly requests: Counter<'route' | 'outcome'>
  readonly promptTokens: Counter
  readonly cachedTokens: Counter<'source'>
  readonly predictedCachedTokens: Counter
  readonly blocks: Counter<'action'>
  readonly failOpen: Counter<'reason'>
  readonly queueSeconds: Histogram
  readonly overheadSeconds: Histogram<'stage'>
  readonly timeToFirstToken: Histogram
  readonly streamAborts: Counter<'phase'>
  readonly mirrorGaps: Counter
  readonly mirrorDivergence: Histogram
}

/** What is read when Prometheus asks. */
export interface MetricSources {
  queueDepth(): number
  indexNodes(): number
  mirrorMode(): { replica: string; mode: 'exact' | 'degraded' | 'fallback' }
  /** events from the engine that were applied, by type */
  mirrorEvents(): Readonly<Record<string, number>>
}

const mirrorModes = { fallback: 0, degraded: 1, exact: 2 }
const shortSeconds = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5]

/** Creates the metrics in a registry of their own. */
export function createMetrics(sources: MetricSources): Metrics {
  const registry = new Registry()
  const registers = [registry]
  const named = (name: string, help: string): { name: string; help: string; registers: Registry[] } => ({
    name: `reprise_${name}`,
    help,
    registers,
  })
  new Gauge({
    ...named('queue_depth', 'Requests that wait to be grouped'),
    collect() {
      this.set(sources.queueDepth())
    },
  })
  new Gauge({
    ...named('index_nodes', 'Nodes of the context index'),
    collect() {
      this.set(sources.indexNodes())
    },
  })
  new Gauge({
    ...named('mirror_mode', 'How the mirror is fed: 2 exact, 1 degraded, 0 fallback'),
    labelNames: ['replica'],
    collect() {
      const { replica, mode } = sources.mirrorMode()
      this.set({ replica }, mirrorModes[mode])
    },
  })
  new Counter({
    ...named('mirror_events_total', 'Events from the engine that were applied'),
    labelNames: ['type'],
    collect() {
      this.reset()
      for (const [type, count] of Object.entries(sources.mirrorEvents())) this.inc({ type }, count)
    },
  })
  return {
    registry,
    requests: new Counter({
      ...named('requests_total', 'Requests by how they ended'),
      labelNames: ['route', 'outcome'],
    }),
    promptTokens: new Counter(named('prompt_tokens_total', 'Prompt tokens as the engine counted them')),
    cachedTokens: new Counter({
      ...named('cached_tokens_total', 'Prompt tokens served from cache'),
      labelNames: ['source'],
    }),
    predictedCachedTokens: new Counter(
      named('predicted_cached_tokens_total', 'Prompt tokens that the mirror expected to be served from cache'),
    ),
    blocks: new Counter({ ...named('blocks_total', 'Context blocks by what was done'), labelNames: ['action'] }),
    failOpen: new Counter({
      ...named('fail_open_total', 'Requests forwarded as received because of a fault of ours'),
      labelNames: ['reason'],
    }),
    queueSeconds: new Histogram({
      ...named('queue_seconds', 'Time spent waiting to be grouped'),
      buckets: shortSeconds,
    }),
    overheadSeconds: new Histogram({
      ...named('overhead_seconds', 'Time spent by reprise itself'),
      labelNames: ['stage'],
      buckets: shortSeconds,
    }),
    timeToFirstToken: new Histogram({
      ...named('time_to_first_token_seconds', 'Time from the request to the first bytes of its answer'),
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
    }),
    streamAborts: new Counter({
      ...named('stream_aborts_total', 'Clients that left before their answer was whole'),
      labelNames: ['phase'],
    }),
    mirrorGaps: new Counter(named('mirror_gaps_total', 'Gaps in the events from the engine')),
    mirrorDivergence: new Histogram({
      ...named('mirror_divergence_tokens', 'Predicted less reported cached tokens of a request, without sign'),
      buckets: [0, 16, 64, 256, 1024, 4096, 16384],
    }),
  }
}
