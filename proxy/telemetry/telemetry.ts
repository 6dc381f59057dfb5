import type { Logger } from 'pino'
import type { Metrics } from '../metrics.ts'
import { Divergence } from './divergence.ts'
import { BlockWords } from './hot-blocks/block-words.ts'
import type { HotBlocks } from './hot-blocks/hot-blocks.ts'
import { RecentPrompts } from './recent-prompts.ts'
import type { Tracing } from './tracing/tracing.ts'

/** Where everything goes that is told about requests. */
export interface Telemetry {
  readonly metrics: Metrics
  readonly log: Logger
  readonly tracing: Tracing | undefined
  readonly hot: HotBlocks
  readonly divergence: Divergence
  readonly recent: RecentPrompts
  /** of none, unless the configuration allows it */
  readonly words: BlockWords
  /** milliseconds, as of `performance.now()` */
  readonly now: () => number
  /** whether each request has a line in the log; by default it has */
  readonly logsRequests?: () => boolean
}

/** A place for what is told about requests; nothing is remembered yet, unless `hot` has something of other proxies. */
export function createTelemetry(to: Omit<Telemetry, 'divergence' | 'recent' | 'words'>): Telemetry {
  return { divergence: new Divergence(), recent: new RecentPrompts(to.now), words: new BlockWords(), ...to }
}
