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
const rounds = 3
const secondsPerRound = 4

/**
 * Measures how many requests each proxy can handle, pinned to one core if the system can do so: in turn, so that other
 * load on the machine affects them alike.
 */
export async function benchThroughput({ enginePid, proxies }: Sides, shape: BodyShape): Promise<ThroughputFigures[]> {
  const nextBody = createBodies(shape, 2)
  const runs = proxies.map((side) => ({ side, sent: 0, seconds: 0, cpu: 0, isPinned: true }))
  for (let round = 0; round < rounds; round++) {
    for (const run of runs) {
      const { pool, pid } = run.side
      const unpin = pinToOneCpu(pid!, [enginePid, process.pid])
      await runClosedLoop(pool, nextBody, concurrency, after(warmUpSeconds))
      const cpu = cpuSeconds(pid!)
      const begun = performance.now()
      run.sent += await runClosedLoop(pool, nextBody, concurrency, after(secondsPerRound))
      run.seconds += (performance.now() - begun) / 1_000
      run.cpu += cpuPerUnit(pid!, cpu, 1, 1_000) ?? Number.NaN
      run.isPinned &&= unpin !== undefined
      unpin?.()
    }
  }
  return runs.map(({ side, sent, seconds, cpu, isPinned }) => ({
    side: side.name,
    perSecond: sent / seconds,
    cpu: Number.isNaN(cpu) ? undefined : cpu / sent,
    isPinned,
  }))
}

function after(limit: number): () => boolean {
  const end = performance.now() + limit * 1_000
  return () => performance.now() >= end
}
