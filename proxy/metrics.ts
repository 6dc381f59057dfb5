import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { type FailOpenReason, failOpenReasons, type Outcome, type SkippedReason, skippedReasons } from './reasons.ts'
import { CallerUsage } from './telemetry/caller-usage.ts'
import { addCollectedMetrics, type MetricSources } from './telemetry/collected-metrics.ts'
import { createPageMetrics, type PageMetrics } from './telemetry/page-metrics.ts'
import { keepOutcomes, pinOutcomes } from './warming/pins/pin-book.ts'

export type { MetricSources } from './telemetry/collected-metrics.ts'

/** A counter whose labels take only values of these types. */
interface Tally<Labels> {
  inc(labels: Readonly<Labels>, by?: number): void
}

/** What is measured (docs/operations.md); `registry` writes the text for Prometheus. We define all label values. */
export interface Metrics {
  readonly registry: Registry
  readonly requests: Tally<{ route: string; outcome: Outcome }>
  readonly bodyBytes: Gauge
  readonly promptTokens: Counter
  readonly cachedTokens: Counter<'source'>
  readonly reusedTokens: Counter
  readonly recomputedTokens: Counter
  readonly pages: PageMetrics
  readonly predictedCachedTokens: Counter
  readonly predictedOfReported: Counter
  readonly seenTokens: Counter
  readonly baselineCachedTokens: Counter<'replica'>
  readonly shadowCachedTokens: Counter<'replica'>
  readonly blocks: Counter<'action'>
  readonly skipped: Tally<{ reason: SkippedReason }>
  readonly chunksLearned: Counter<'source'>
  readonly chunksIgnored: Counter<'reason'>
  readonly chunksMatched: Counter
  readonly chunkLists: Counter<'outcome'>
  readonly proofs: Counter<'outcome'>
  readonly warmUps: Counter<'outcome'>
  readonly warmUpTokens: Counter
  readonly pinnedTokens: Gauge
  readonly pins: Counter<'outcome'>
  readonly pinRequests: Counter<'outcome'>
  readonly templateLists: Counter<'outcome'>
  readonly failOpen: Tally<{ reason: FailOpenReason }>
  readonly citationsRemapped: Counter
  readonly gainUncounted: Counter<'reason'>
  readonly rateLimited: Counter
  readonly retries: Counter<'reason'>
  readonly queueSeconds: Histogram
  readonly overheadSeconds: Histogram<'stage'>
  readonly requestOverhead: Histogram
  readonly timeToFirstToken: Histogram
  readonly byReplica: ReplicaMetrics
  readonly usage: CallerUsage
  readonly streamAborts: Counter<'phase'>
  readonly mirrorGaps: Counter
  readonly mirrorDivergence: Histogram
  readonly divergenceByCause: Counter<'cause'>
  readonly recordedRequests: Counter
  readonly recordLostRequests: Counter
}

const shortSeconds = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5]
// waiting lasts from a group window to a deadline
const waitSeconds = [0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
const tokenSeconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
const divergentTokens = [0, 16, 64, 256, 1024, 4096, 16384]

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
  const { count, measure } = makersIn(registry)
  return beginAtZero({
    registry,
    requests: count('requests_total', 'Requests by how they ended', 'route', 'outcome'),
    ...gaugesIn(registry),
    ...tokenMetrics(count),
    ...warmUpMetrics(count),
    pages: createPageMetrics(count),
    blocks: count('blocks_total', 'Context blocks by what was done', 'action'),
    skipped: count('skipped_total', 'Requests left as they were, by why', 'reason'),
    ...chunkMetrics(count),
    failOpen: count('fail_open_total', 'Requests forwarded as received because of a fault of ours', 'reason'),
    citationsRemapped: count('citations_remapped_total', "Citations mapped back to the caller's numbers"),
    rateLimited: count('rate_limited_total', "Requests refused because of their key's limits"),
    retries: count('retries_total', 'Requests sent to an engine once more, by why', 'reason'),
    queueSeconds: measure('queue_seconds', 'Time spent waiting to be sent', waitSeconds),
    overheadSeconds: measure('overhead_seconds', 'Time spent by reprise itself', shortSeconds, 'stage'),
    requestOverhead: measure(
      'request_overhead_seconds',
      'Time spent by reprise on a request, all stages',
      shortSeconds,
    ),
    timeToFirstToken: measure(
      'time_to_first_token_seconds',
      'Time from the request to the first bytes of its answer',
      tokenSeconds,
    ),
    byReplica: replicaMetrics(count, measure),
    usage,
    streamAborts: count('stream_aborts_total', 'Clients that left before their answer was whole', 'phase'),
    mirrorGaps: count('mirror_gaps_total', 'Gaps in the events from the engine'),
    mirrorDivergence: measure(
      'mirror_divergence_tokens',
      'Predicted less reported cached tokens of a request, without sign',
      divergentTokens,
    ),
    divergenceByCause: count(
      'divergence_tokens_total',
      'Predicted less reported cached tokens, without sign, by what is to blame; routing: left on another replica',
      'cause',
    ),
    recordedRequests: count('recorded_requests_total', 'Requests written to the trace; of a list of prompts, each one'),
    recordLostRequests: count(
      'record_lost_requests_total',
      'Requests missing in the trace: the disk failed, or did not keep up',
    ),
  })
}

function gaugesIn(registry: Registry) {
  const registers = [registry]
  const pinned = 'Tokens of prompts that marks (cache_control) pin'
  return {
    bodyBytes: new Gauge({ name: 'reprise_body_bytes', help: 'Memory of request bodies in flight', registers }),
    pinnedTokens: new Gauge({ name: 'reprise_pinned_tokens', help: pinned, registers }),
  }
}

type CountMaker = <Label extends string = never>(name: string, help: string, ...labelNames: Label[]) => Counter<Label>
type MeasureMaker = <Label extends string = never>(
  name: string,
  help: string,
  buckets: number[],
  ...labelNames: Label[]
) => Histogram<Label>

function warmUpMetrics(count: CountMaker) {
  return {
    warmUps: count('warm_ups_total', 'Prompts sent to engines that had come, to warm them, by how it ended', 'outcome'),
    warmUpTokens: count('warm_up_tokens_total', 'Prompt tokens that engines computed to be warm, or for pins'),
    pins: count('pins_total', 'Marks in prompts (cache_control), by whether they pin, or why not', 'outcome'),
    pinRequests: count('pin_requests_total', 'Pinned prompts sent to engines once more, by how it ended', 'outcome'),
  }
}

/** Counts of prompt tokens, as engines report them and as we predict them. */
function tokenMetrics(count: CountMaker) {
  return {
    promptTokens: count('prompt_tokens_total', 'Prompt tokens as the engine counted them'),
    cachedTokens: count('cached_tokens_total', 'Prompt tokens served from cache', 'source'),
    reusedTokens: count(
      'reused_tokens_total',
      'Prompt tokens whose KV was taken over from another position and not computed again',
    ),
    recomputedTokens: count(
      'recomputed_tokens_total',
      'Prompt tokens whose KV was found at another position and computed again',
    ),
    predictedCachedTokens: count(
      'predicted_cached_tokens_total',
      'Prompt tokens that the mirror expected to be served from cache',
    ),
    predictedOfReported: count(
      'predicted_cached_tokens_of_reported_total',
      'Of the tokens predicted, those of prompts in prompt_tokens_total: not of streams without usage, nor of errors',
    ),
    baselineCachedTokens: count(
      'baseline_cached_tokens_total',
      'Prompt tokens that would have been served from cache had nothing ever been rewritten',
      'replica',
    ),
    shadowCachedTokens: count(
      'shadow_cached_tokens_total',
      'Shadow mode: prompt tokens that would have been served from cache had all been rewritten',
      'replica',
    ),
    gainUncounted: count('gain_uncounted_requests_total', 'Requests whose gain is not counted, by why', 'reason'),
    seenTokens: count(
      'seen_tokens_total',
      'Prompt tokens that the same tenant had sent before, at any position: the bound of what can be reused',
    ),
  }
}

/** Metrics of requests by the replica that answered them; the totals have separate names. */
interface ReplicaMetrics {
  readonly requests: Tally<{ replica: string; outcome: Outcome }>
  readonly promptTokens: Counter<'replica'>
  readonly cachedTokens: Counter<'replica'>
  readonly timeToFirstToken: Histogram<'replica'>
}

function replicaMetrics(count: CountMaker, measure: MeasureMaker): ReplicaMetrics {
  return {
    requests: count('replica_requests_total', 'Requests by replica and how they ended', 'replica', 'outcome'),
    promptTokens: count('replica_prompt_tokens_total', 'Prompt tokens as the engine counted them', 'replica'),
    cachedTokens: count('replica_cached_tokens_total', 'Prompt tokens served from cache', 'replica'),
    timeToFirstToken: measure(
      'replica_time_to_first_token_seconds',
      'Time from the request to the first bytes of its answer',
      tokenSeconds,
      'replica',
    ),
  }
}

/** Metrics of known chunks and templates. */
function chunkMetrics(count: CountMaker) {
  return {
    chunksLearned: count('chunks_learned_total', 'Chunks that became known, by how', 'source'),
    chunksIgnored: count(
      'chunks_ignored_total',
      'Texts that were embedded and are not taken for chunks, by why',
      'reason',
    ),
    chunksMatched: count('chunks_matched_total', 'Known chunks that were found in prompts'),
    chunkLists: count('chunk_lists_total', 'Runs of known chunks in prompts: found, or why they were left', 'outcome'),
    proofs: count(
      'proofs_total',
      'Answers scored to see whether the order of blocks matters, by how it ended',
      'outcome',
    ),
    templateLists: count(
      'template_lists_total',
      'Lists that templates of the configuration wrote: found, or why they were left',
      'outcome',
    ),
  }
}

/** Functions that make metrics in a registry, named without the common prefix. */
function makersIn(registry: Registry): { readonly count: CountMaker; readonly measure: MeasureMaker } {
  const registers = [registry]
  return {
    count: (name, help, ...labelNames) => new Counter({ name: `reprise_${name}`, help, labelNames, registers }),
    measure: (name, help, buckets, ...labelNames) =>
      new Histogram({ name: `reprise_${name}`, help, buckets, labelNames, registers }),
  }
}

/** Reports what has not happened yet as 0, not as missing: a rate needs a value to start from. */
function beginAtZero(metrics: Metrics): Metrics {
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
  return metrics
}
