import { cpuPerUnit, cpuSeconds, pinToOneCpu } from './process-usage.ts'
import { type BodyShape, createBodies } from './rag-bodies.ts'
import { runClosedLoop } from './send-load.ts'
import type { Sides } from './start-sides.ts'

/** The throughput of a proxy on one core. */
export interface ThroughputFigures {
  readonly side: string
  readonly perSecond: number
  /** the proxy's CPU time per request, in milliseconds; undefined if the system does not report it */
  readonly cpu: number | undefined
  /** whether the proxy had one core to itself, and client and engine shared the rest */
  readonly isPinned: boolean
}

const concurrency = 16
const warmUpSeconds = 3
const seconds = 10

/** Measures how many requests each proxy can handle, pinned to one core if the system can do so. */
export async function benchThroughput({ enginePid, proxies }: Sides, shape: BodyShape): Promise<ThroughputFigures[]> {
  const nextBody = createBodies(shape, 2)
  const figures: ThroughputFigures[] = []
  for (const { name, pid, pool } of proxies) {
    const unpin = pinToOneCpu(pid!, [enginePid, process.pid])
    await runClosedLoop(pool, nextBody, concurrency, after(warmUpSeconds))
    const cpu = cpuSeconds(pid!)
    const begun = performance.now()
    const sent = await runClosedLoop(pool, nextBody, concurrency, after(seconds))
    const elapsed = (performance.now() - begun) / 1_000
    figures.push({
      side: name,
      perSecond: sent / elapsed,
      cpu: cpuPerUnit(pid!, cpu, sent, 1_000),
      isPinned: unpin !== undefined,
    })
    unpin?.()
  }
  return figures
}

function after(limit: number): () => boolean {
  const end = performance.now() + limit * 1_000
  return () => performance.now() >= end
}
