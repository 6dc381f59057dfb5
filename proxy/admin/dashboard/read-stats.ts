import type { Registry } from 'prom-client'
import type { BlockId } from '#index/context-block.ts'
import type { KnownChunks } from '../../chunks/known-chunks.ts'
import type { GainReport } from '../../gain/gain.ts'
import type { HotBlocks } from '../../telemetry/hot-blocks/hot-blocks.ts'
import type { RecentPrompts } from '../../telemetry/recent-prompts.ts'
import type { TemplateDescription } from '../../templates/describe-template.ts'
import type { ReplicaDescription } from './describe-replicas.ts'
import type { History, Sample } from './history.ts'
import { latenciesBetween, readByLabel, readValues } from './read-counts.ts'

interface StatsSources {
  readonly registry: Registry
  readonly history: History
  readonly hot: HotBlocks
  /** the first words of a block; undefined: not known, or not to be shown */
  readonly wordsOf: WordsOf
  readonly recent: Pick<RecentPrompts, 'shapes' | 'secondsSinceChunks'>
  readonly chunks: Pick<KnownChunks, 'size' | 'sizes' | 'capacity'>
  readonly gain: GainReport
  readonly templates: readonly TemplateDescription[]
  readonly replicas: readonly ReplicaDescription[]
  readonly version: string
  readonly mode: string
  readonly isDraining: boolean
  /** expected tokens of a text of this many characters */
  readonly estimateTokens: (characters: number) => number
}

const hottest = 12
/** Ranges that the dashboard shows, in seconds. */
const ranges = [600, 3_600]

export type WordsOf = (block: BlockId) => string | undefined

/** How many chunks are known, their sources, and when one was last found in a prompt. */
async function describeChunks({ registry, chunks, recent }: StatsSources): Promise<Record<string, unknown>> {
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
    last_match_seconds_ago: recent.secondsSinceChunks,
  }
}

/**
 * Reads what the dashboard shows, except for data of the other endpoints: numbers and ids, and no text of any prompt
 * except the first words of blocks, if they may be shown.
 */
export async function readStats(sources: StatsSources): Promise<Record<string, unknown>> {
  const { registry, history, version, mode, replicas, isDraining } = sources
  const samples = await history.samples()
  const { queue_depth, in_flight } = samples.at(-1)!
  return {
    version,
    mode,
    draining: isDraining,
    interval_seconds: history.intervalMilliseconds / 1000,
    queue_depth,
    in_flight,
    outcomes: await readByLabel(registry, 'requests_total', 'outcome'),
    routes: await readByLabel(registry, 'requests_total', 'route'),
    blocks: await readByLabel(registry, 'blocks_total', 'action'),
    skipped: await readByLabel(registry, 'skipped_total', 'reason'),
    fail_open: await readByLabel(registry, 'fail_open_total', 'reason'),
    stream_aborts: await readByLabel(registry, 'stream_aborts_total', 'phase'),
    shapes: sources.recent.shapes,
    templates: sources.templates,
    known_chunks: await describeChunks(sources),
    gain: sources.gain.total,
    gain_by: { tenant: sources.gain.tenants, api: sources.gain.routes, shape: sources.gain.shapes },
    replicas,
    top_blocks: describeBlocks(sources),
    latencies: ranges.map((seconds) => describeLatencies(samples, seconds)),
    samples: samples.map(({ overheadBuckets: _, firstByteBuckets: __, ...sample }) => sample),
  }
}

/** The hottest blocks by id, with the number of requests and the approximate length of each. */
export function describeBlocks({
  hot,
  estimateTokens,
  wordsOf,
}: Pick<StatsSources, 'hot' | 'estimateTokens' | 'wordsOf'>): object[] {
  return hot.top(hottest).map(({ block, count, size }) => {
    const words = wordsOf(block)
    return { id: block, count, tokens: estimateTokens(size), ...(words === undefined ? {} : { words }) }
  })
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
