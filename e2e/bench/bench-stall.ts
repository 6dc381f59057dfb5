import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { Pool } from 'undici'
import { toPercentiles } from './percentiles.ts'
import { report } from './print-table.ts'
import { createBodies } from './rag-bodies.ts'
import { runOpenLoop, sendRequest } from './send-load.ts'
import type { BodyOrder, SendOrder, SentReport } from './stall-sender.ts'
import { stallShapes } from './stall-shapes.ts'
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
  /** of other requests, the 99th percentile above the one without any of this shape */
  readonly added: number
  /** the same of the least that a proxy in Node does */
  readonly addedPlain: number
}

/** Megabytes; the largest stays below the default limit of a body. */
export const sizes: readonly number[] = [1, 4, 16, 64]
const largest = 66_000_000
/** Of one shape and size, one behind the other. */
const sentEach = 3
const othersPerSecond = 100
const baselineSeconds = 6
const warmUpSeconds = 10
const healthMilliseconds = 10
const others = createBodies({ bytes: 8_000, blocks: 5 })

/**
 * Sends requests that ask as much of the proxy as they can, beside ordinary ones at a constant rate, and asks for its
 * health all the while; then the same through the least that a proxy in Node does. Engine, proxies and the sender of what
 * is large are processes of their own.
 */
export async function* benchStall(): AsyncGenerator<StallFigures> {
  const engine = await startChildServer(['--import', 'tsx', 'e2e/bench/instant-engine-double.ts'])
  const reprise = await startReprise(engine.url)
  const node = await startChildServer(['--import', 'tsx', 'e2e/bench/plain-node-proxy.ts', engine.url])
  const idle = await startChildServer(['--import', 'tsx', 'e2e/bench/instant-engine-double.ts'])
  const sender = fork('e2e/bench/stall-sender.ts', { execArgv: ['--import', 'tsx'] })
  const [ordinary, plain, admin, nothing] = [reprise.url, node.url, reprise.adminUrl!, idle.url].map(
    (url) => new Pool(url),
  ) as [Pool, Pool, Pool, Pool]
  try {
    const alone = await runAlone('reprise', ordinary)
    const plainAlone = await runAlone('a plain proxy', plain)
    for (const shape of Object.keys(stallShapes)) {
      for (const megabytes of sizes) {
        const bytes = Math.min(megabytes * 1e6, largest)
        await order(sender, { shape, bytes })
        const health = watchHealth(admin)
        const control = watchHealth(nothing)
        const { sent, p99 } = await sendBeside(ordinary, sender, reprise.url)
        const [slowestHealth, slowestIdle] = await Promise.all([health.stop(), control.stop()])
        const besidePlain = await sendBeside(plain, sender, node.url)
        const times = { added: p99 - alone, addedPlain: besidePlain.p99 - plainAlone, slowestHealth, slowestIdle }
        const perMegabyte = sent.milliseconds / (bytes / 1e6)
        yield { shape, megabytes, perMegabyte, skipped: sent.skipped, ...times }
      }
    }
  } finally {
    await Promise.all([ordinary, plain, admin, nothing].map((pool) => pool.destroy()))
    sender.kill()
    for (const server of [reprise, node, idle, engine]) server.stop()
  }
}

/** The 99th percentile of ordinary requests, behind some that warm the proxy up. */
async function runAlone(name: string, pool: Pool): Promise<number> {
  await runOpenLoop(pool, others, { perSecond: othersPerSecond, seconds: warmUpSeconds })
  const durations = await runOpenLoop(pool, others, { perSecond: othersPerSecond, seconds: baselineSeconds })
  const { p99 } = toPercentiles(durations)
  report(`  p99 of others alone, behind ${name}: ${p99.toFixed(1)} ms`)
  return p99
}

/** Sends the large bodies, and ordinary requests meanwhile; their 99th percentile. */
async function sendBeside(pool: Pool, sender: ChildProcess, url: string): Promise<{ sent: SentReport; p99: number }> {
  const load = watchOthers(pool)
  await delay(200)
  const sent = await order(sender, { url, times: sentEach })
  await delay(200)
  return { sent, p99: toPercentiles(await load.stop()).p99 }
}

async function order(sender: ChildProcess, what: BodyOrder | SendOrder): Promise<SentReport> {
  const answer = once(sender, 'message')
  sender.send(what)
  const [report] = (await answer) as [SentReport]
  return report
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
