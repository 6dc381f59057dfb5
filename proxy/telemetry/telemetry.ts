import type { Logger } from 'pino'
import { Divergence } from './divergence.ts'
import { BlockWords } from './hot-blocks/block-words.ts'
import type { HotBlocks } from './hot-blocks/hot-blocks.ts'
import type { Metrics } from './metrics.ts'
import { RecentPrompts } from './recent-prompts.ts'
import type { Tracing } from './tracing/tracing.ts'

/** The destinations of everything reported about requests. */
export interface Telemetry {
  readonly metrics: Metrics
  readonly log: Logger
  readonly tracing: Tracing | undefined
  readonly hot: HotBlocks
  readonly divergence: Divergence
  readonly recent: RecentPrompts
  /** empty unless the configuration allows it */
  readonly words: BlockWords
  /** milliseconds, as of `performance.now()` */
  readonly now: () => number
}

/** Creates the telemetry. It starts empty, except that `hot` may hold counts of other proxies. */
export function createTelemetry(to: Omit<Telemetry, 'divergence' | 'recent' | 'words'>): Telemetry {
  return { divergence: new Divergence(), recent: new RecentPrompts(to.now), words: new BlockWords(), ...to }
}
