import { setTimeout as delay } from 'node:timers/promises'
import { Pool } from 'undici'
import { toPercentiles } from './percentiles.ts'
import { report } from './print-table.ts'
import { createBodies } from './rag-bodies.ts'
import { runOpenLoop, sendRequest } from './send-load.ts'
import { pathOf, stallShapes } from './stall-shapes.ts'
import { startChildServer } from './start-child-server.ts'
import { startReprise } from './start-sides.ts'

/** What a proxy does for others while requests of one shape and size come in. Times are in milliseconds. */
export interface StallFigures {
  readonly shape: string
  readonly megabytes: number
  /** from its first byte to the end of its answer, for each megabyte */
  readonly perMegabyte: number
  /** why it was not rewritten */
  readonly skipped: string
  readonly slowestHealth: number
  /** of a server that does nothing else, asked as often: what the machine does besides */
  readonly slowestIdle: number
  /** of other requests, and how much more than without any of this shape */
  readonly p99: number
  readonly added: number
}

/** Megabytes; the largest stays below the default limit of a body. */
export const sizes: readonly number[] = [1, 4, 16, 64]
const largest = 66_000_000
/** Of one shape and size, one behind the other. */
const sentEach = 3
const othersPerSecond = 50
const baselineSeconds = 6
const warmUpSeconds = 10
const healthMilliseconds = 10
const others = createBodies({ bytes: 8_000, blocks: 5 })

/**
 * Sends requests that ask as much of the proxy as they can, beside ordinary ones at a constant rate, and asks for its
 * health all the while. Engine and proxy are processes of their own.
 */
export async function* benchStall(): AsyncGenerator<StallFigures> {
  const engine = await startChildServer(['--import', 'tsx', 'e2e/bench/instant-engine-double.ts'])
  const proxy = await startReprise(engine.url)
  const idle = await startChildServer(['--import', 'tsx', 'e2e/bench/instant-engine-double.ts'])
  const [attack, ordinary, admin] = [new Pool(proxy.url), new Pool(proxy.url), new Pool(proxy.adminUrl!)]
  const nothing = new Pool(idle.url)
  try {
    await runOpenLoop(ordinary, others, { perSecond: othersPerSecond * 2, seconds: warmUpSeconds })
    const baseline = toPercentiles(await runFor(ordinary, baselineSeconds)).p99
    report(`  p99 of others alone: ${baseline.toFixed(1)} ms`)
    for (const [shape, write] of Object.entries(stallShapes)) {
      for (const megabytes of sizes) {
        const body = write(Math.min(megabytes * 1e6, largest))
        const health = watchHealth(admin)
        const control = watchHealth(nothing)
        const load = watchOthers(ordinary)
        await delay(200)
        const begun = performance.now()
        let skipped = ''
        for (let i = 0; i < sentEach; i++) skipped = await send(attack, pathOf(shape), body)
        const perMegabyte = (performance.now() - begun) / sentEach / (body.length / 1e6)
        await delay(200)
        const [slowestHealth, slowestIdle, durations] = await Promise.all([health.stop(), control.stop(), load.stop()])
        const { p99 } = toPercentiles(durations)
        yield { shape, megabytes, perMegabyte, skipped, slowestHealth, slowestIdle, p99, added: p99 - baseline }
      }
    }
  } finally {
    await Promise.all([attack, ordinary, admin, nothing].map((pool) => pool.destroy()))
    proxy.stop()
    idle.stop()
    engine.stop()
  }
}

function runFor(pool: Pool, seconds: number): Promise<number[]> {
  return runOpenLoop(pool, others, { perSecond: othersPerSecond, seconds })
}

async function send(pool: Pool, path: string, body: Buffer): Promise<string> {
  const headers = { 'content-type': 'application/json' }
  const response = await pool.request({ path, method: 'POST', headers, body })
  await response.body.dump()
  return String(response.headers['x-reprise-skipped'] ?? response.statusCode)
}

/** What goes on until it is stopped. */
interface Watch<Result> {
  stop(): Promise<Result>
}

/** Asks again and again; one that takes long does not hide those that would have come meanwhile. */
function watchHealth(pool: Pool): Watch<number> {
  let slowest = 0
  const asked = repeat(healthMilliseconds, async () => {
    const begun = performance.now()
    const response = await pool.request({ path: '/healthz', method: 'GET' })
    await response.body.dump()
    slowest = Math.max(slowest, performance.now() - begun)
  })
  return {
    stop: async () => {
      await asked.stop()
      return slowest
    },
  }
}

function watchOthers(pool: Pool): Watch<number[]> {
  const durations: number[] = []
  const sent = repeat(1_000 / othersPerSecond, async () => {
    const begun = performance.now()
    await sendRequest(pool, others())
    durations.push(performance.now() - begun)
  })
  return {
    stop: async () => {
      await sent.stop()
      return durations
    },
  }
}

function repeat(milliseconds: number, act: () => Promise<void>): Watch<void> {
  const running: Promise<void>[] = []
  const timer = setInterval(() => running.push(act()), milliseconds)
  return {
    stop: async () => {
      clearInterval(timer)
      await Promise.all(running)
    },
  }
}
