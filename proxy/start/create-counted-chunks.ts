import { randomInt } from 'node:crypto'
import { KnownChunks } from '../chunks/known-chunks.ts'
import type { Config } from '../config/config.ts'
import { createMetrics, type MetricSources, type Metrics } from '../telemetry/metrics.ts'

/** Creates an empty set of known chunks, and the metrics: each of the two reads the other. */
export function createCountedChunks(
  { chunks: { max_chunks } }: Pick<Config, 'chunks'>,
  sources: Omit<MetricSources, 'knownChunks'>,
): { readonly chunks: KnownChunks; readonly metrics: Metrics } {
  const metrics = createMetrics({ knownChunks: () => chunks.size, ...sources })
  const chunks = new KnownChunks({
    maxChunks: max_chunks,
    // random, so that proxies which share their chunks do not mix up their orders
    source: randomInt(1, 2 ** 31 - 1),
    onLearned: (source, count) => metrics.chunksLearned.inc({ source }, count),
    onIgnored: (reason, count) => metrics.chunksIgnored.inc({ reason }, count),
  })
  return { chunks, metrics }
}
