import { openStreams, type StreamPlan, type StreamResult } from './open-streams.ts'
import { cpuPerUnit, cpuSeconds, residentBytes } from './process-usage.ts'
import { createBodies } from './rag-bodies.ts'
import type { Side, Sides } from './start-sides.ts'

/** What streams cost over one path to the engine. */
export interface StreamFigures extends StreamResult {
  readonly plan: StreamPlan
  readonly side: string
  /** the proxy's CPU time per event, in microseconds */
  readonly cpu: number | undefined
  /** the proxy's memory before the run, and its peak during it, in bytes */
  readonly memoryBefore: number | undefined
  readonly memoryPeak: number | undefined
}

/** One stream at full speed; as many streams as a loaded engine serves; very many open at once. */
export const streamPlans: readonly StreamPlan[] = [
  { streams: 1, events: 20_000, interval: 0 },
  { streams: 50, events: 500, interval: 10 },
  { streams: 2_000, events: 20, interval: 500 },
]

/** Measures one plan over all paths to the engine. */
export async function benchStreams({ direct, proxies }: Sides, plan: StreamPlan): Promise<StreamFigures[]> {
  const figures: StreamFigures[] = []
  for (const side of [direct, ...proxies]) {
    const nextBody = createBodies({ bytes: 1_000, blocks: 3 }, 3)
    await openStreams(side.pool, { streams: 20, events: 200, interval: 0 }, nextBody)
    figures.push(await benchSide(side, plan, nextBody))
  }
  return figures
}

async function benchSide({ name, pid, pool }: Side, plan: StreamPlan, nextBody: () => Buffer): Promise<StreamFigures> {
  const memory = { before: pid === undefined ? undefined : residentBytes(pid), peak: 0 }
  const sample = setInterval(() => {
    if (pid !== undefined) memory.peak = Math.max(memory.peak, residentBytes(pid) ?? 0)
  }, 100)
  const cpu = pid === undefined ? undefined : cpuSeconds(pid)
  const result = await openStreams(pool, plan, nextBody)
  clearInterval(sample)
  return {
    plan,
    side: name,
    ...result,
    cpu: pid === undefined ? undefined : cpuPerUnit(pid, cpu, result.events, 1_000_000),
    memoryBefore: memory.before,
    memoryPeak: memory.before === undefined ? undefined : Math.max(memory.peak, memory.before),
  }
}
