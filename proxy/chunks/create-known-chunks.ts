import { randomInt } from 'node:crypto'
import type { Config } from '../config/config.ts'
import type { Metrics } from '../metrics.ts'
import { KnownChunks } from './known-chunks.ts'

/** Creates what is known of chunks: nothing. What is learned is counted as soon as there are metrics. */
export function createKnownChunks(
  { chunks }: Pick<Config, 'chunks'>,
  metrics: () => Pick<Metrics, 'chunksLearned' | 'chunksIgnored'> | undefined,
): KnownChunks {
  return new KnownChunks({
    maxChunks: chunks.maxChunks,
    maxBytes: chunks.maxBytes,
    // no two proxies that share what they know count from the same place
    source: randomInt(1, 2 ** 31 - 1),
    onLearned: (source, count) => metrics()?.chunksLearned.inc({ source }, count),
    onIgnored: (reason, count) => metrics()?.chunksIgnored.inc({ reason }, count),
  })
}
