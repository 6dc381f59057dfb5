import { Counter, Gauge, Histogram, type Registry } from 'prom-client'

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
