import { cpuPerUnit, cpuSeconds, pinToOneCpu } from './process-usage.ts'
import { type BodyShape, createBodies } from './rag-bodies.ts'
import { runClosedLoop } from './send-load.ts'
import type { Sides } from './start-sides.ts'

/** What a proxy on one core can take. */
export interface ThroughputFigures {
  readonly side: string
  readonly perSecond: number
  /** milliseconds a request; undefined where the system does not tell */
  readonly cpu: number | undefined
  /** whether the proxy had one core to itself, and client and engine the others */
  readonly isPinned: boolean
}

const concurrency = 16
const warmUpSeconds = 3
const seconds = 10

/** Measures each proxy with as many requests as it takes, on one core where the system can pin it to one. */
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
