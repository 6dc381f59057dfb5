/** A bucket of a histogram: how many took at most `upTo` seconds. Buckets are sorted, the shortest first. */
export interface Bucket {
  readonly upTo: number
  readonly count: number
}

interface Latencies {
  readonly p50: number
  readonly p99: number
}

/** The median and the 99th percentile of what was added between two states of a histogram; undefined: nothing was. */
export function latenciesBetween(before: readonly Bucket[], after: readonly Bucket[]): Latencies | undefined {
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
