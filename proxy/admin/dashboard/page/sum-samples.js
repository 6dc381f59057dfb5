/** Members of a sample that only grow. */
const growing = [
  'requests',
  'prompt_tokens',
  'cached_tokens',
  'reused_tokens',
  'recomputed_tokens',
  'predicted_cached_tokens',
  'baseline_cached_tokens',
  'shadow_cached_tokens',
  'seen_tokens',
  'listed_pages',
  'all_pages',
  'page_choices',
  'page_backtracks',
  'overhead_seconds',
  'decided',
  'first_byte_seconds',
  'answered',
]

/** The width of a bucket in milliseconds, for a range of `seconds`. */
export function bucketWidth(seconds) {
  return seconds > 600 ? 60_000 : 10_000
}

/** Sums what happened in each bucket of the last `seconds`, oldest first. */
export function bucketsOf(samples, seconds) {
  const now = samples.at(-1).at
  const buckets = new Map()
  for (let i = 1; i < samples.length; i++) {
    const [before, after] = [samples[i - 1], samples[i]]
    if (after.at < now - seconds * 1000) continue
    const key = Math.floor((now - after.at) / bucketWidth(seconds))
    const none = Object.fromEntries(growing.map((name) => [name, 0]))
    const bucket = buckets.get(key) ?? { from: before.at, to: after.at, ...none }
    bucket.to = after.at
    for (const name of growing) bucket[name] += Math.max(0, after[name] - before[name])
    buckets.set(key, bucket)
  }
  return [...buckets.values()]
}

/** All buckets together, and the seconds that they cover. */
export function totalOf(buckets) {
  const sums = growing.map((name) => [name, buckets.reduce((sum, bucket) => sum + bucket[name], 0)])
  const seconds = buckets.length > 0 ? (buckets.at(-1).to - buckets[0].from) / 1000 : 0
  return { ...Object.fromEntries(sums), seconds }
}

/** The share of `part` in `all`; undefined if `all` is 0. */
export function ratioOf(part, all) {
  return all > 0 ? Math.min(1, part / all) : undefined
}
