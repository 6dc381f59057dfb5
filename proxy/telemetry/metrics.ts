import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import {
  type FailOpenReason,
  failOpenReasons,
  keepOutcomes,
  type Outcome,
  pinOutcomes,
  type SkippedReason,
  skippedReasons,
} from '../common/reasons.ts'
import { CallerUsage } from './caller-usage.ts'
import { addCollectedMetrics, type MetricSources } from './collected-metrics.ts'

export type { MetricSources } from './collected-metrics.ts'

type Buckets = 'shortSeconds' | 'waitSeconds' | 'tokenSeconds' | 'divergentTokens'

const bucketsOf: Readonly<Record<Buckets, number[]>> = {
  shortSeconds: [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5],
  // waiting lasts from a group window to a deadline
  waitSeconds: [0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
  tokenSeconds: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
  divergentTokens: [0, 16, 64, 256, 1024, 4096, 16384],
}

/** Each counter: its name without our prefix, what it says, and its labels. */
const counters = {
  requests: ['requests_total', 'Requests by how they ended', 'route', 'outcome'],
  promptTokens: ['prompt_tokens_total', 'Prompt tokens as the engine counted them'],
  cachedTokens: ['cached_tokens_total', 'Prompt tokens served from cache', 'source'],
  reusedTokens: [
    'reused_tokens_total',
    'Prompt tokens whose KV was taken over from another position and not computed again',
  ],
  recomputedTokens: [
    'recomputed_tokens_total',
    'Prompt tokens whose KV was found at another position and computed again',
  ],
  listedPages: ['listed_pages_total', 'Pages that decode steps read, of requests that asked for fewer than all'],
  allPages: ['pages_total', 'Pages that the contexts of the same steps had'],
  pageChoices: ['page_choices_total', 'Times that pages were chosen for a request'],
  pageBacktracks: ['page_backtracks_total', 'Times of these that it was for what was written had become uncertain'],
  predictedCachedTokens: [
    'predicted_cached_tokens_total',
    'Prompt tokens that the mirror expected to be served from cache',
  ],
  predictedOfReported: [
    'predicted_cached_tokens_of_reported_total',
    'Of the tokens predicted, those of prompts in prompt_tokens_total: not of streams without usage, nor of errors',
  ],
  baselineCachedTokens: [
    'baseline_cached_tokens_total',
    'Prompt tokens that would have been served from cache had nothing ever been rewritten',
    'replica',
  ],
  shadowCachedTokens: [
    'shadow_cached_tokens_total',
    'Shadow mode: prompt tokens that would have been served from cache had all been rewritten',
    'replica',
  ],
  gainUncounted: ['gain_uncounted_requests_total', 'Requests whose gain is not counted, by why', 'reason'],
  seenTokens: [
    'seen_tokens_total',
    'Prompt tokens that the same tenant had sent before, at any position: the bound of what can be reused',
  ],
  warmUps: ['warm_ups_total', 'Prompts sent to engines that had come, to warm them, by how it ended', 'outcome'],
  warmUpTokens: ['warm_up_tokens_total', 'Prompt tokens that engines computed to be warm, or for pins'],
  pins: ['pins_total', 'Marks in prompts (cache_control), by whether they pin, or why not', 'outcome'],
  pinRequests: ['pin_requests_total', 'Pinned prompts sent to engines once more, by how it ended', 'outcome'],
  blocks: ['blocks_total', 'Context blocks by what was done', 'action'],
  skipped: ['skipped_total', 'Requests left as they were, by why', 'reason'],
  chunksLearned: ['chunks_learned_total', 'Chunks that became known, by how', 'source'],
  chunksIgnored: ['chunks_ignored_total', 'Texts that were embedded and are not taken for chunks, by why', 'reason'],
  chunksMatched: ['chunks_matched_total', 'Known chunks that were found in prompts'],
  chunkLists: ['chunk_lists_total', 'Runs of known chunks in prompts: found, or why they were left', 'outcome'],
  proofs: ['proofs_total', 'Answers scored to see whether the order of blocks matters, by how it ended', 'outcome'],
  templateLists: [
    'template_lists_total',
    'Lists that templates of the configuration wrote: found, or why they were left',
    'outcome',
  ],
  failOpen: ['fail_open_total', 'Requests forwarded as received because of a fault of ours', 'reason'],
  citationsRemapped: ['citations_remapped_total', "Citations mapped back to the caller's numbers"],
  rateLimited: ['rate_limited_total', "Requests refused because of their key's limits"],
  retries: ['retries_total', 'Requests sent to an engine once more, by why', 'reason'],
  streamAborts: ['stream_aborts_total', 'Clients that left before their answer was whole', 'phase'],
  mirrorGaps: ['mirror_gaps_total', 'Gaps in the events from the engine'],
  divergenceByCause: [
    'divergence_tokens_total',
    'Predicted less reported cached tokens, without sign, by what is to blame; routing: left on another replica',
    'cause',
  ],
  recordedRequests: ['recorded_requests_total', 'Requests written to the trace; of a list of prompts, each one'],
  recordLostRequests: [
    'record_lost_requests_total',
    'Requests missing in the trace: the disk failed, or did not keep up',
  ],
  replicaRequests: ['replica_requests_total', 'Requests by replica and how they ended', 'replica', 'outcome'],
  replicaPromptTokens: ['replica_prompt_tokens_total', 'Prompt tokens as the engine counted them', 'replica'],
  replicaCachedTokens: ['replica_cached_tokens_total', 'Prompt tokens served from cache', 'replica'],
} as const

/** Each histogram, with its buckets in front of its labels. */
const histograms = {
  queueSeconds: ['queue_seconds', 'Time spent waiting to be sent', 'waitSeconds'],
  overheadSeconds: ['overhead_seconds', 'Time spent by reprise itself', 'shortSeconds', 'stage'],
  requestOverhead: ['request_overhead_seconds', 'Time spent by reprise on a request, all stages', 'shortSeconds'],
  timeToFirstToken: [
    'time_to_first_token_seconds',
    'Time from the request to the first bytes of its answer',
    'tokenSeconds',
  ],
  mirrorDivergence: [
    'mirror_divergence_tokens',
    'Predicted less reported cached tokens of a request, without sign',
    'divergentTokens',
  ],
  replicaTimeToFirstToken: [
    'replica_time_to_first_token_seconds',
    'Time from the request to the first bytes of its answer',
    'tokenSeconds',
    'replica',
  ],
} as const

const gauges = {
  bodyBytes: ['body_bytes', 'Memory of request bodies in flight'],
  pinnedTokens: ['pinned_tokens', 'Tokens of prompts that marks (cache_control) pin'],
} as const

type CounterRow<Label extends string = string> = readonly [name: string, help: string, ...labels: Label[]]
type HistogramRow<Label extends string = string> = readonly [
  name: string,
  help: string,
  buckets: Buckets,
  ...labels: Label[],
]
type Counters<Table> = {
  readonly [Name in keyof Table]: Table[Name] extends CounterRow<infer Label> ? Counter<Label> : never
}
type Histograms<Table> = {
  readonly [Name in keyof Table]: Table[Name] extends HistogramRow<infer Label> ? Histogram<Label> : never
}

/** A counter whose labels take only values of these types. */
interface Tally<Labels> {
  inc(labels: Readonly<Labels>, by?: number): void
}

/** What is measured (docs/operations.md); `registry` writes the text for Prometheus. We define all label values. */
export interface Metrics
  extends Omit<Counters<typeof counters>, 'requests' | 'replicaRequests' | 'skipped' | 'failOpen'>,
    Histograms<typeof histograms>,
    Readonly<Record<keyof typeof gauges, Gauge>> {
  readonly registry: Registry
  readonly requests: Tally<{ route: string; outcome: Outcome }>
  readonly skipped: Tally<{ reason: SkippedReason }>
  readonly failOpen: Tally<{ reason: FailOpenReason }>
  readonly replicaRequests: Tally<{ replica: string; outcome: Outcome }>
  readonly usage: CallerUsage
}

/** Gauges of prom-client that are named like counters. They are sums of gauges that also exist by type. */
const misnamed = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total']

/** Creates our metrics and those of the process in a new registry. */
export function createMetrics(sources: MetricSources): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry, prefix: 'reprise_' })
  for (const name of misnamed) registry.removeSingleMetric(`reprise_${name}`)
  addCollectedMetrics(registry, sources)
  const usage = new CallerUsage(new Date().toISOString())
  usage.addCounters(registry)
  const registers = [registry]
  const gauge = ([name, help]: readonly [string, string]): Gauge =>
    new Gauge({ name: `reprise_${name}`, help, registers })
  const count = ([name, help, ...labelNames]: CounterRow): Counter =>
    new Counter({ name: `reprise_${name}`, help, labelNames, registers })
  const measure = ([name, help, buckets, ...labelNames]: HistogramRow): Histogram =>
    new Histogram({ name: `reprise_${name}`, help, buckets: bucketsOf[buckets], labelNames, registers })
  const metrics = {
    registry,
    usage,
    ...makeAll(gauges, gauge),
    ...makeAll(counters, count),
    ...makeAll(histograms, measure),
  } as unknown as Metrics
  beginAtZero(metrics)
  return metrics
}

function makeAll<Row>(table: Readonly<Record<string, Row>>, make: (row: Row) => unknown): object {
  return Object.fromEntries(Object.entries(table).map(([name, row]) => [name, make(row)]))
}

/** Reports what has not happened yet as 0, not as missing: a rate needs a value to start from. */
function beginAtZero(metrics: Metrics): void {
  metrics.cachedTokens.inc({ source: 'engine' }, 0)
  for (const outcome of ['scored', 'unscored', 'interrupted']) metrics.proofs.inc({ outcome }, 0)
  for (const outcome of ['warmed', 'interrupted', 'failed']) metrics.warmUps.inc({ outcome }, 0)
  for (const outcome of pinOutcomes) metrics.pins.inc({ outcome }, 0)
  for (const outcome of keepOutcomes) metrics.pinRequests.inc({ outcome }, 0)
  for (const action of ['kept', 'moved', 'deduplicated']) metrics.blocks.inc({ action }, 0)
  for (const source of ['embeddings', 'rerank', 'registered']) metrics.chunksLearned.inc({ source }, 0)
  metrics.chunkLists.inc({ outcome: 'found' }, 0)
  metrics.templateLists.inc({ outcome: 'found' }, 0)
  for (const reason of skippedReasons) metrics.skipped.inc({ reason }, 0)
  for (const reason of failOpenReasons) metrics.failOpen.inc({ reason }, 0)
  for (const phase of ['queue', 'before_head', 'mid_stream']) metrics.streamAborts.inc({ phase }, 0)
}

/** The label under which the counts of all replicas that are gone go on, so that sums do not fall. */
const gone = 'gone'

/** Removes the series of a replica that is gone. What its counters have counted is kept under `replica="gone"`. */
export async function forgetReplica(registry: Registry, replica: string): Promise<void> {
  for (const { name } of await registry.getMetricsAsJSON()) {
    const metric = registry.getSingleMetric(name)
    if (!(metric instanceof Counter || metric instanceof Gauge || metric instanceof Histogram)) continue
    const { values } = await metric.get()
    for (const { labels, value } of values) {
      if (labels.replica !== replica) continue
      const { le: _, ...own } = labels as Record<string, string | number>
      if (metric instanceof Counter && value > 0) metric.inc({ ...own, replica: gone }, value)
      metric.remove(own)
    }
  }
}
