import type { Registry } from 'prom-client'
import type { Counts } from './history.ts'
import type { Bucket } from './latencies.ts'

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

/** Reads the counters of the dashboard's history. */
export async function readCounts(registry: Registry): Promise<Counts> {
  const total = async (name: string, part = ''): Promise<number> => {
    const values = await readValues(registry, name)
    return sum(part === '' ? values : values.filter(({ metricName }) => metricName === `reprise_${name}_${part}`))
  }
  const parsed = (await readValues(registry, 'overhead_seconds')).filter(({ labels }) => labels.stage === 'parse')
  return {
    requests: await total('requests_total'),
    promptTokens: await total('prompt_tokens_total'),
    cachedTokens: await total('cached_tokens_total'),
    reusedTokens: await total('reused_tokens_total'),
    recomputedTokens: await total('recomputed_tokens_total'),
    predictedCachedTokens: await total('predicted_cached_tokens_of_reported_total'),
    baselineCachedTokens: await total('baseline_cached_tokens_total'),
    shadowCachedTokens: await total('shadow_cached_tokens_total'),
    seenTokens: await total('seen_tokens_total'),
    listedPages: await total('listed_pages_total'),
    allPages: await total('pages_total'),
    pageChoices: await total('page_choices_total'),
    pageBacktracks: await total('page_backtracks_total'),
    overheadSeconds: await total('overhead_seconds', 'sum'),
    decided: sum(parsed.filter(({ metricName }) => metricName === 'reprise_overhead_seconds_count')),
    firstByteSeconds: await total('time_to_first_token_seconds', 'sum'),
    answered: await total('time_to_first_token_seconds', 'count'),
    overheadBuckets: await readBuckets(registry, 'request_overhead_seconds'),
    firstByteBuckets: await readBuckets(registry, 'time_to_first_token_seconds'),
    queueDepth: await total('queue_depth'),
    inFlight: await total('in_flight'),
  }
}

/** The buckets of a histogram without labels, the shortest first. */
async function readBuckets(registry: Registry, name: string): Promise<Bucket[]> {
  const values = await readValues(registry, name)
  return values
    .filter(({ metricName }) => metricName === `reprise_${name}_bucket`)
    .map(({ labels, value }) => ({ upTo: Number(String(labels.le).replace('+Inf', 'Infinity')), count: value }))
    .sort((a, b) => a.upTo - b.upTo)
}

function sum(values: readonly Value[]): number {
  return values.reduce((total, { value }) => total + value, 0)
}
