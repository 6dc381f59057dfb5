import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Pool } from 'undici'
import { type RunningRedis, startRedis } from '../redis-server.ts'
import { type Percentiles, toPercentiles } from './percentiles.ts'
import { createBodies } from './rag-bodies.ts'
import { runClosedLoop, runOpenLoop } from './send-load.ts'
import type { Sharing } from './sent-prompts.ts'
import { startChildServer } from './start-child-server.ts'

/** What a mirror takes of memory. */
export interface MirrorMemory {
  readonly requests: number
  readonly bytes: number
  /** what it says of itself */
  readonly estimate: number
}

/** What it takes to load a mirror from Redis. */
export interface MirrorLoad {
  readonly requests: number
  readonly seconds: number
  /** the longest that the event loop stood still */
  readonly blockedMilliseconds: number
}

const rate = 50
const secondsPerRound = 5
const warmUp = 200
const shape = { bytes: 24_000, blocks: 15 } as const

/** Measures the memory of a mirror in a process of its own. */
export function benchMirrorMemory(requests: number, sharing: Sharing): Promise<MirrorMemory> {
  return runScript<MirrorMemory>('mirror-memory.ts', String(requests), sharing)
}

/** Writes a mirror of so many requests to a Redis, and loads it in another process. */
export async function benchMirrorLoad(requests: number): Promise<MirrorLoad> {
  const redis = await startRedis()
  try {
    await runScript('mirror-load.ts', 'write', redis.url, String(requests))
    return await runScript<MirrorLoad>('mirror-load.ts', 'load', redis.url, String(requests))
  } finally {
    await redis.close()
  }
}

/** What requests take through a proxy without Redis, with one, and with one that is stopped. */
export async function benchMirrorLatency(): Promise<{ without: Percentiles; up: Percentiles; stopped: Percentiles }> {
  const redis = await startRedis()
  const engine = await startChildServer(['--import', 'tsx', 'e2e/bench/instant-engine-double.ts'])
  const serve = (...args: string[]): ReturnType<typeof startChildServer> => {
    const listen = ['--listen', '127.0.0.1:0', '--admin-listen', '127.0.0.1:0']
    return startChildServer(['bin/reprise', 'serve', ...listen, '--engine', `${engine.url},kind=vllm`, ...args], {
      isQuiet: true,
    })
  }
  const servers = [await serve(), await serve('--redis', redis.url)]
  const pools = servers.map(({ url }) => new Pool(url))
  try {
    return await measure(redis, pools[0]!, pools[1]!)
  } finally {
    await Promise.all(pools.map((pool) => pool.destroy()))
    for (const server of [...servers, engine]) server.stop()
    await redis.close()
  }
}

/** In turns, so that what the machine does besides hits all alike; while Redis is stopped at last. */
async function measure(
  redis: RunningRedis,
  plain: Pool,
  shared: Pool,
): Promise<{ without: Percentiles; up: Percentiles; stopped: Percentiles }> {
  const nextBody = createBodies(shape)
  const durations = { without: [] as number[], up: [] as number[], stopped: [] as number[] }
  const run = async (name: keyof typeof durations, pool: Pool): Promise<void> => {
    durations[name].push(...(await runOpenLoop(pool, nextBody, { perSecond: rate, seconds: secondsPerRound })))
  }
  for (const pool of [plain, shared]) await runClosedLoop(pool, nextBody, 4, (sent) => sent >= warmUp)
  for (let round = 0; round < 3; round++) {
    await run('without', plain)
    await run('up', shared)
    redis.signal('SIGSTOP')
    await run('stopped', shared)
    redis.signal('SIGCONT')
  }
  return {
    without: toPercentiles(durations.without),
    up: toPercentiles(durations.up),
    stopped: toPercentiles(durations.stopped),
  }
}

async function runScript<T>(name: string, ...args: string[]): Promise<T> {
  const flags = ['--expose-gc', '--max-old-space-size=6144', '--import', 'tsx']
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, join(import.meta.dirname, name), ...args])
  return JSON.parse(stdout) as T
}
