import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Pool } from 'undici'
import { percentile } from '#tools/replay/report/replay-report.ts'
import { toPercentiles } from './percentiles.ts'
import { createBodies } from './rag-bodies.ts'
import { runOpenLoop, sendRequest } from './send-load.ts'
import type { BodyOrder, SendOrder, SentReport } from './stall-sender.ts'
import { stallShapes } from './stall-shapes.ts'
import { type ChildServer, startChildServer } from './start-child-server.ts'
import { startReprise } from './start-sides.ts'

/** How one proxy serves other requests while large ones of one shape and size arrive. Times are in milliseconds. */
export interface StallOfProxy {
  readonly slowestHealth: number
  /** how much the 99th percentile of other requests grows over that without large requests: the median of the runs */
  readonly added: number
  /** the longest turn of its event loop, in CPU time; undefined if the system does not report it */
  readonly longestTurn: number | undefined
}

/** The figures for reprise and for a minimal proxy in Node. */
export interface StallFigures {
  readonly shape: string
  readonly megabytes: number
  /** time from the request's first byte to the end of its answer, per megabyte */
  readonly perMegabyte: number
  /** why the request was not rewritten */
  readonly skipped: string
  readonly reprise: StallOfProxy
  readonly plain: StallOfProxy
}

/** In megabytes; the largest stays below the default body limit. */
export const sizes: readonly number[] = [0.2, 1, 4, 16, 64]
const largest = 66_000_000
/** Requests per shape and size, sent one after another. */
const sentEach = 3
/** Runs of each. The median counts, so a moment in which the machine stalls does not. */
const runsEach = 3
const othersPerSecond = 100
const baselineSeconds = 3
const warmUpSeconds = 10
const healthMilliseconds = 10
/** Other requests run this long before the large ones begin and after they end. */
const settleMilliseconds = 200
const others = createBodies({ bytes: 8_000, blocks: 5 })

/** Loaded into a server, it answers with the longest turn of its event loop. */
const watchTurns = join(import.meta.dirname, 'watch-turns.mjs')

/** A proxy, with one pool for requests and one for health checks. */
interface Watched {
  readonly server: ChildServer
  readonly pool: Pool
  readonly health: Pool
}

/**
 * Sends requests that are as demanding as possible, alongside ordinary ones at a constant rate and health checks; then
 * does the same through a minimal proxy in Node. The engine, the proxies and the sender of the large requests are
 * separate processes. `only`: if given, just the shapes whose names contain one of these strings.
 */
export async function* benchStall(only: readonly string[] = []): AsyncGenerator<StallFigures> {
  const engine = await startChildServer(['--import', 'tsx', 'e2e/bench/instant-engine-double.ts'])
  const reprise = toWatched(await startReprise(engine.url, { preload: watchTurns }))
  const node = ['--import', 'tsx', 'e2e/bench/plain-node-proxy.ts', engine.url]
  const plain = toWatched(await startChildServer(node, { preload: watchTurns }))
  const sender = fork('e2e/bench/stall-sender.ts', { execArgv: ['--import', 'tsx'] })
  const isWanted = (shape: string): boolean => only.length === 0 || only.some((name) => shape.includes(name))
  try {
    for (const { pool } of [reprise, plain]) {
      await runOpenLoop(pool, others, { perSecond: othersPerSecond, seconds: warmUpSeconds })
    }
    for (const shape of Object.keys(stallShapes).filter(isWanted)) {
      const alone = await runAlone(reprise)
      const plainAlone = await runAlone(plain)
      for (const megabytes of sizes) {
        const bytes = Math.min(megabytes * 1e6, largest)
        await order(sender, { shape, bytes })
        const runs: { sent: SentReport; reprise: StallOfProxy; plain: StallOfProxy }[] = []
        while (runs.length < runsEach) {
          const { sent, ...ofReprise } = await sendBeside(reprise, sender, alone)
          const { sent: _, ...ofPlain } = await sendBeside(plain, sender, plainAlone)
          runs.push({ sent, reprise: ofReprise, plain: ofPlain })
        }
        const perMegabyte =
          percentile(
            runs.map(({ sent }) => sent.milliseconds),
            0.5,
          ) /
          (bytes / 1e6)
        const { skipped } = runs[0]!.sent
        const [ofReprise, ofPlain] = [runs.map((run) => run.reprise), runs.map((run) => run.plain)]
        yield { shape, megabytes, perMegabyte, skipped, reprise: summarize(ofReprise), plain: summarize(ofPlain) }
      }
    }
  } finally {
    await Promise.all([reprise, plain].flatMap(({ pool, health }) => [pool.destroy(), health.destroy()]))
    sender.kill()
    for (const server of [reprise.server, plain.server, engine]) server.stop()
  }
}

/** Returns the slowest of all runs, and what was added in the median one. */
function summarize(runs: readonly StallOfProxy[]): StallOfProxy {
  const turns = runs.map(({ longestTurn }) => longestTurn)
  return {
    slowestHealth: Math.max(...runs.map(({ slowestHealth }) => slowestHealth)),
    added: percentile(
      runs.map(({ added }) => added),
      0.5,
    ),
    longestTurn: turns.includes(undefined) ? undefined : Math.max(...(turns as number[])),
  }
}

function toWatched(server: ChildServer): Watched {
  return { server, pool: new Pool(server.url), health: new Pool(server.adminUrl ?? server.url) }
}

/** Returns the 99th percentile of ordinary requests sent without large ones. */
async function runAlone({ pool }: Watched): Promise<number> {
  const durations = await runOpenLoop(pool, others, { perSecond: othersPerSecond, seconds: baselineSeconds })
  return toPercentiles(durations).p99
}

/** Sends the large bodies together with ordinary requests, whose 99th percentile without them is `alone`. */
async function sendBeside(
  { server, pool, health }: Watched,
  sender: ChildProcess,
  alone: number,
): Promise<StallOfProxy & { sent: SentReport }> {
  const [load, asked] = [watchOthers(pool), watchHealth(health)]
  await delay(settleMilliseconds)
  await server.ask()
  const sent = await order(sender, { url: server.url, times: sentEach })
  const { longest: longestTurn } = await server.ask<{ longest?: number }>()
  await delay(settleMilliseconds)
  const [durations, slowestHealth] = await Promise.all([load.stop(), asked.stop()])
  return { sent, slowestHealth, longestTurn, added: toPercentiles(durations).p99 - alone }
}

async function order(sender: ChildProcess, what: BodyOrder | SendOrder): Promise<SentReport> {
  const answer = once(sender, 'message')
  sender.send(what)
  const [report] = (await answer) as [SentReport]
  return report
}

/** An activity that runs until it is stopped. */
interface Watch<Result> {
  stop(): Promise<Result>
}

/** Checks health at a fixed interval; a slow check does not delay the next ones. */
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
