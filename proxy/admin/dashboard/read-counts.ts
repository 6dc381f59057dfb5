import type { Registry } from 'prom-client'

interface Value {
  readonly value: number
  readonly labels: Readonly<Record<string, string | number | undefined>>
  readonly metricName?: string
}

/** The values of one metric, whose name is given without `reprise_`; empty if there is no such metric. */
export async function readValues(registry: Registry, name: string): Promise<readonly Value[]> {
  const metric = await registry.getSingleMetric(`reprise_${name}`)?.get()
  return (metric?.values ?? []) as readonly Value[]
}

/** The values of a metric by one of its labels, summed over the others. */
export async function readByLabel(registry: Registry, name: string, label: string): Promise<Record<string, number>> {
  const sums: Record<string, number> = {}
  for (const { value, labels } of await readValues(registry, name)) {
    const key = String(labels[label])
    sums[key] = (sums[key] ?? 0) + value
  }
  return sums
}

/** Counters and gauges of the dashboard's history, as `GET /v1/stats` calls them, by their metrics. All but the last two only grow. */
const totals = {
  requests: 'requests_total',
  prompt_tokens: 'prompt_tokens_total',
  cached_tokens: 'cached_tokens_total',
  /** from another position: tokens reused unchanged, and tokens recomputed */
  reused_tokens: 'reused_tokens_total',
  recomputed_tokens: 'recomputed_tokens_total',
  /** for the prompts whose tokens are counted */
  predicted_cached_tokens: 'predicted_cached_tokens_of_reported_total',
  /** expected without our rewriting; in shadow mode also: expected with it */
  baseline_cached_tokens: 'baseline_cached_tokens_total',
  shadow_cached_tokens: 'shadow_cached_tokens_total',
  seen_tokens: 'seen_tokens_total',
  /** for decode steps asked to read fewer pages: pages read, all pages, choices, and choices made in doubt */
  listed_pages: 'listed_pages_total',
  all_pages: 'pages_total',
  page_choices: 'page_choices_total',
  page_backtracks: 'page_backtracks_total',
  queue_depth: 'queue_depth',
  in_flight: 'in_flight',
} as const

/** Values of the counters at one moment. */
export type Counts = Readonly<Record<keyof typeof totals, number>> & {
  /** seconds spent by reprise itself, and the number of requests */
  readonly overhead_seconds: number
  readonly decided: number
  /** seconds until answers began, and how many began */
  readonly first_byte_seconds: number
  readonly answered: number
  /** histograms of the same two times */
  readonly overheadBuckets: readonly Bucket[]
  readonly firstByteBuckets: readonly Bucket[]
}

/** Reads the counters of the dashboard's history. */
export async function readCounts(registry: Registry): Promise<Counts> {
  const sums = Object.entries(totals).map(async ([name, metric]) => [name, sum(await readValues(registry, metric))])
  const overhead = await readHistogram(registry, 'request_overhead_seconds')
  const firstByte = await readHistogram(registry, 'time_to_first_token_seconds')
  return {
    ...(Object.fromEntries(await Promise.all(sums)) as Record<keyof typeof totals, number>),
    overhead_seconds: overhead.seconds,
    decided: overhead.count,
    first_byte_seconds: firstByte.seconds,
    answered: firstByte.count,
    overheadBuckets: overhead.buckets,
    firstByteBuckets: firstByte.buckets,
  }
}

/** Reads a histogram without labels: its sum, how many it has seen, and its buckets, the shortest first. */
async function readHistogram(
  registry: Registry,
  name: string,
): Promise<{ seconds: number; count: number; buckets: Bucket[] }> {
  const values = await readValues(registry, name)
  const part = (end: string): readonly Value[] =>
    values.filter(({ metricName }) => metricName === `reprise_${name}_${end}`)
  const buckets = part('bucket')
    .map(({ labels, value }) => ({ upTo: Number(String(labels.le).replace('+Inf', 'Infinity')), count: value }))
    .sort((a, b) => a.upTo - b.upTo)
  return { seconds: sum(part('sum')), count: sum(part('count')), buckets }
}

function sum(values: readonly Value[]): number {
  return values.reduce((total, { value }) => total + value, 0)
}

/** A bucket of a histogram: how many took at most `upTo` seconds. Buckets are sorted, the shortest first. */
export interface Bucket {
  readonly upTo: number
  readonly count: number
}

/** The median and the 99th percentile of what was added between two states of a histogram; undefined: nothing was. */
export function latenciesBetween(
  before: readonly Bucket[],
  after: readonly Bucket[],
): { readonly p50: number; readonly p99: number } | undefined {
  const counts = after.map(({ count }, i) => Math.max(0, count - (before[i]?.count ?? 0)))
  const all = counts.at(-1) ?? 0
  if (all === 0) return undefined
  const at = (share: number): number => 1000 * quantile(after, counts, share * all)
  return { p50: at(0.5), p99: at(0.99) }
}

/**
 * Estimates a quantile as Prometheus does: evenly within a bucket, and at most the last bound. `counts` are cumulative.
 */
function quantile(buckets: readonly Bucket[], counts: readonly number[], wanted: number): number {
  const found = counts.findIndex((count) => count >= wanted)
  const from = found === 0 ? 0 : buckets[found - 1]!.upTo
  const { upTo } = buckets[found]!
  if (upTo === Number.POSITIVE_INFINITY) return from
  const below = found === 0 ? 0 : counts[found - 1]!
  return from + ((upTo - from) * (wanted - below)) / (counts[found]! - below)
}
