import type { Pipeline } from '../../request/pipeline.ts'
import { describeTemplates } from '../../templates/describe-template.ts'
import { describeReplicas } from './describe-replicas.ts'
import type { History, Sample } from './history.ts'
import { latenciesBetween, readByLabel, readValues } from './read-counts.ts'

const hottest = 12
/** Ranges that the dashboard shows, in seconds. */
const ranges = [600, 3_600]

/**
 * Reads what the dashboard shows, except for data of the other endpoints: numbers and ids, and no text of any prompt
 * except the first words of blocks, if they may be shown.
 */
export async function readStats(
  pipeline: Pipeline,
  history: History,
  { version, isDraining }: { readonly version: string; readonly isDraining: boolean },
): Promise<Record<string, unknown>> {
  const { metrics, recent, divergence } = pipeline.telemetry
  const { mode } = pipeline.settings()
  const byLabel = (name: string, label: string): Promise<object> => readByLabel(metrics.registry, name, label)
  const gain = pipeline.gain.report(mode)
  const samples = await history.samples()
  const { queue_depth, in_flight } = samples.at(-1)!
  return {
    version,
    mode,
    draining: isDraining,
    interval_seconds: history.intervalMilliseconds / 1000,
    queue_depth,
    in_flight,
    outcomes: await byLabel('requests_total', 'outcome'),
    routes: await byLabel('requests_total', 'route'),
    blocks: await byLabel('blocks_total', 'action'),
    skipped: await byLabel('skipped_total', 'reason'),
    fail_open: await byLabel('fail_open_total', 'reason'),
    stream_aborts: await byLabel('stream_aborts_total', 'phase'),
    shapes: recent.shapes,
    templates: describeTemplates(pipeline.templates, mode, pipeline.now()),
    known_chunks: await describeChunks(pipeline),
    gain: gain.total,
    gain_by: { tenant: gain.tenants, api: gain.routes, shape: gain.shapes },
    replicas: describeReplicas(pipeline.replicas.all, divergence),
    top_blocks: describeBlocks(pipeline),
    latencies: ranges.map((seconds) => describeLatencies(samples, seconds)),
    samples: samples.map(({ overheadBuckets: _, firstByteBuckets: __, ...sample }) => sample),
  }
}

/** How many chunks are known, their sources, and when one was last found in a prompt. */
async function describeChunks({ chunks, telemetry }: Pipeline): Promise<object> {
  const { registry } = telemetry.metrics
  const { learned } = chunks.sizes()
  const values = await readValues(registry, 'chunks_matched_total')
  return {
    known: chunks.size,
    capacity: chunks.capacity,
    learned,
    registered: chunks.size - learned,
    /** since the start, including chunks forgotten since */
    by_source: await readByLabel(registry, 'chunks_learned_total', 'source'),
    matched: values.reduce((sum, { value }) => sum + value, 0),
    lists: await readByLabel(registry, 'chunk_lists_total', 'outcome'),
    last_match_seconds_ago: telemetry.recent.secondsSinceChunks,
  }
}

/** The hottest blocks by id, with the number of requests, the approximate length and, if allowed, the words of each. */
export function describeBlocks({ settings, telemetry: { hot, words }, replicas }: Pipeline): object[] {
  const { keepsWords } = settings()
  return hot.top(hottest).map(({ block, count, size }) => ({
    id: block,
    count,
    tokens: replicas.all[0]?.mirror.estimateTokens(size) ?? 0,
    words: keepsWords ? words.get(block) : undefined,
  }))
}

/** The latencies of reprise and of first bytes in the last `seconds`; null if nothing was measured. */
function describeLatencies(samples: readonly Sample[], seconds: number): object {
  const last = samples.at(-1)!
  const first = samples.findLast(({ at }) => at < last.at - seconds * 1000) ?? samples[0]!
  return {
    range_seconds: seconds,
    overhead_ms: latenciesBetween(first.overheadBuckets, last.overheadBuckets) ?? null,
    first_byte_ms: latenciesBetween(first.firstByteBuckets, last.firstByteBuckets) ?? null,
  }
}
