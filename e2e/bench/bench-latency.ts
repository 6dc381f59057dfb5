import { type Percentiles, toPercentiles } from './percentiles.ts'
import { cpuPerUnit, cpuSeconds } from './process-usage.ts'
import { type BodyShape, createBodies } from './rag-bodies.ts'
import { runClosedLoop, runOpenLoop } from './send-load.ts'
import type { Side, Sides } from './start-sides.ts'

/** How long requests take at a constant rate, over one path to the engine, in milliseconds. */
export interface LatencyFigures {
  readonly shape: BodyShape
  readonly side: string
  readonly latency: Percentiles
  /** in addition to the direct path; undefined for the direct path itself */
  readonly added: Percentiles | undefined
  /** the proxy's CPU time per request; undefined without a proxy, or if the system does not report it */
  readonly cpu: number | undefined
}

/** Requests per second. */
export const rate = 100
const rounds = 3
const secondsPerRound = 5
/** Enough for V8 to compile what runs per request: after 300, a request of 1 KB still costs twice the CPU. */
const warmUp = 3_000

/** Measures bodies of one shape on all paths in turn, so that other load on the machine affects them alike. */
export async function benchLatency(sides: Sides, shape: BodyShape): Promise<LatencyFigures[]> {
  const all = [sides.direct, ...sides.proxies]
  const runs = all.map((side) => ({ side, durations: [] as number[], cpu: 0 }))
  const nextBody = createBodies(shape)
  for (const { pool } of all) await runClosedLoop(pool, nextBody, 4, (sent) => sent >= warmUp)
  for (let round = 0; round < rounds; round++) {
    for (const run of runs) {
      const before = cpuBefore(run.side)
      run.durations.push(...(await runOpenLoop(run.side.pool, nextBody, { perSecond: rate, seconds: secondsPerRound })))
      run.cpu += run.side.pid === undefined ? 0 : (cpuPerUnit(run.side.pid, before, rounds, 1_000) ?? Number.NaN)
    }
  }
  const direct = toPercentiles(runs[0]!.durations)
  return runs.map(({ side, durations, cpu }) => {
    const latency = toPercentiles(durations)
    const perRequest = (cpu * rounds) / durations.length
    return {
      shape,
      side: side.name,
      latency,
      added: side.pid === undefined ? undefined : { p50: latency.p50 - direct.p50, p99: latency.p99 - direct.p99 },
      cpu: side.pid === undefined || Number.isNaN(perRequest) ? undefined : perRequest,
    }
  })
}

function cpuBefore({ pid }: Side): number | undefined {
  return pid === undefined ? undefined : cpuSeconds(pid)
}
