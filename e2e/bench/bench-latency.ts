import { type Percentiles, toPercentiles } from './percentiles.ts'
import { cpuPerUnit, cpuSeconds } from './process-usage.ts'
import { type BodyShape, createBodies } from './rag-bodies.ts'
import { runClosedLoop, runOpenLoop } from './send-load.ts'
import type { Side, Sides } from './start-sides.ts'

/** What a request takes at a constant rate, on one way to the engine, in milliseconds. */
export interface LatencyFigures {
  readonly shape: BodyShape
  readonly side: string
  readonly latency: Percentiles
  /** more than the direct way took; undefined for that way itself */
  readonly added: Percentiles | undefined
  /** CPU of the proxy for one request; undefined where there is none or the system does not tell */
  readonly cpu: number | undefined
}

/** Requests a second. */
export const rate = 100
const rounds = 3
const secondsPerRound = 5
/** So many that V8 has compiled what runs for every request: after 300 a request of 1 KB still costs twice the CPU. */
const warmUp = 3_000

/** Measures bodies of one shape on all ways in turns, so that what the machine does besides hits them alike. */
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
