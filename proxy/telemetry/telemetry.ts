import type { Logger } from 'pino'
import type { Metrics } from '../metrics.ts'
import { Divergence } from './divergence.ts'
import { HotBlocks } from './hot-blocks.ts'
import { SeenBlocks } from './seen-blocks.ts'
import type { Tracing } from './tracing.ts'

/** Where everything goes that is told about requests. */
export interface Telemetry {
  readonly metrics: Metrics
  readonly log: Logger
  readonly tracing: Tracing | undefined
  readonly seen: SeenBlocks
  readonly hot: HotBlocks
  readonly divergence: Divergence
  /** milliseconds, as of `performance.now()` */
  readonly now: () => number
}

/** A place for what is told about requests; nothing is remembered yet. */
export function createTelemetry(to: Pick<Telemetry, 'metrics' | 'log' | 'tracing' | 'now'>): Telemetry {
  return { ...to, seen: new SeenBlocks(), hot: new HotBlocks(), divergence: new Divergence() }
}
