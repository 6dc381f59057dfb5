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

/** The memory that a mirror takes. */
export interface MirrorMemory {
  readonly requests: number
  readonly bytes: number
  /** the mirror's own estimate */
  readonly estimate: number
}

/** What loading a mirror from Redis costs. */
export interface MirrorLoad {
  readonly requests: number
  readonly seconds: number
  /** the longest time the event loop was blocked */
  readonly blockedMilliseconds: number
}

const rate = 50
const secondsPerRound = 5
const warmUp = 200
const shape = { bytes: 24_000, blocks: 15 } as const

/** Measures the memory of a mirror in a separate process. */
export function benchMirrorMemory(requests: number, sharing: Sharing): Promise<MirrorMemory> {
  return runScript<MirrorMemory>('mirror-memory.ts', String(requests), sharing)
}

/** Writes a mirror of `requests` requests to a Redis, then loads it in another process. */
export async function benchMirrorLoad(requests: number): Promise<MirrorLoad> {
  const redis = await startRedis()
  try {
    await runScript('mirror-load.ts', 'write', redis.url, String(requests))
    return await runScript<MirrorLoad>('mirror-load.ts', 'load', redis.url, String(requests))
  } finally {
    await redis.close()
  }
}

/** Measures the latency of requests through a proxy without Redis, with Redis, and with a stopped Redis. */
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

/** Alternates between the three, so that other load on the machine affects all alike; the stopped Redis comes last. */
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
