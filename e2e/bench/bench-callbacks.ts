import { Pool } from 'undici'
import { toPercentiles } from './percentiles.ts'
import { cpuSeconds } from './process-usage.ts'
import { createBodies } from './rag-bodies.ts'
import { runOpenLoop } from './send-load.ts'
import { type ChildServer, startChildServer } from './start-child-server.ts'

/** How fast a proxy processes an engine's reports, and how they affect requests. */
export interface CallbackFigures {
  readonly requests: number
  /** posted one after another, as fast as the proxy accepts them */
  readonly evictionsPerSecond: number
  /** the proxy's CPU time per eviction, in microseconds; undefined if the system does not report it */
  readonly cpuMicroseconds: number | undefined
  /** evictions a second while requests were measured */
  readonly pacedPerSecond: number
  /** p99 of requests in milliseconds: while nothing is reported, and during reports */
  readonly quietP99: number
  readonly busyP99: number
  /** from the batch that reveals a gap until the mirror is exact again, in milliseconds */
  readonly repairMilliseconds: number
}

const mirrored = 4_000
const eventsPerPost = 1_000
const unpacedPosts = 400
const pacedEventsPerSecond = 100_000
/** Quiet and busy rounds alternate, so that variations in the machine's speed affect both. */
const rounds = 6
const secondsPerRound = 5
const requestsPerSecond = 100
/** the prompt tokens the engine counts in each body */
const promptTokens = 6_000
const shape = { bytes: 24_000, blocks: 15 }

/** Posts reports about requests that were actually sent, and measures other requests at the same time. */
export async function benchCallbacks(): Promise<CallbackFigures> {
  const engine = await startChildServer(['--import', 'tsx', 'e2e/bench/instant-engine-double.ts'])
  const listen = ['--listen', '127.0.0.1:0', '--admin-listen', '127.0.0.1:0']
  const proxy = await startChildServer(
    ['bin/reprise', 'serve', ...listen, '--engine', `${engine.url},kind=vllm,id=gpu-0`],
    { isQuiet: true },
  )
  const pool = new Pool(proxy.url)
  const reporter = new Reporter(proxy)
  try {
    await reporter.post('snapshot', [])
    const nextBody = createBodies(shape)
    await sendMirrored(pool, nextBody)
    const fast = await measureUnpaced(reporter, proxy.pid)
    const beside = await measureBeside(reporter, pool, nextBody)
    const repairMilliseconds = await reporter.measureRepair()
    return { requests: mirrored, ...fast, ...beside, repairMilliseconds }
  } finally {
    await Promise.all([pool.destroy(), reporter.close()])
    engine.stop()
    proxy.stop()
  }
}

async function sendMirrored(pool: Pool, nextBody: () => Buffer): Promise<void> {
  let next = 0
  const client = async (): Promise<void> => {
    for (let i = next++; i < mirrored; i = next++) {
      const headers = {
        'content-type': 'application/json',
        'x-request-id': `r-${i}`,
        'x-bench-prompt-tokens': `${promptTokens}`,
      }
      const answer = await pool.request({ path: '/v1/chat/completions', method: 'POST', headers, body: nextBody() })
      await answer.body.dump()
    }
  }
  await Promise.all(Array.from({ length: 8 }, client))
}

async function measureUnpaced(
  reporter: Reporter,
  pid: number,
): Promise<Pick<CallbackFigures, 'evictionsPerSecond' | 'cpuMicroseconds'>> {
  for (let i = 0; i < unpacedPosts / 10; i++) await reporter.postEvents()
  const cpu = cpuSeconds(pid)
  const begun = performance.now()
  let evictions = 0
  for (let i = 0; i < unpacedPosts; i++) evictions += await reporter.postEvents()
  const seconds = (performance.now() - begun) / 1000
  const used = cpuSeconds(pid)
  return {
    evictionsPerSecond: evictions / seconds,
    cpuMicroseconds: used === undefined || cpu === undefined ? undefined : ((used - cpu) * 1e6) / evictions,
  }
}

async function measureBeside(
  reporter: Reporter,
  pool: Pool,
  nextBody: () => Buffer,
): Promise<Pick<CallbackFigures, 'pacedPerSecond' | 'quietP99' | 'busyP99'>> {
  const load = { perSecond: requestsPerSecond, seconds: secondsPerRound }
  const [quiet, busy, paced]: [number[], number[], number[]] = [[], [], []]
  for (let round = 0; round < rounds; round++) {
    quiet.push(...(await runOpenLoop(pool, nextBody, load)))
    let isOver = false
    const reports = reporter.keepPosting(() => isOver)
    busy.push(...(await runOpenLoop(pool, nextBody, load)))
    isOver = true
    paced.push(await reports)
  }
  const pacedPerSecond = paced.reduce((sum, perSecond) => sum + perSecond, 0) / rounds
  return { pacedPerSecond, quietP99: toPercentiles(quiet).p99, busyP99: toPercentiles(busy).p99 }
}

/** Reports in batches of a thousand, as the plugins do: each request loses its tail in steps, then is stored again. */
class Reporter {
  readonly #pool: Pool
  #sequence = 0
  #batch = 0
  /** each request is cut four times, then stored again whole */
  readonly #batches = [4_500, 3_000, 1_500, 0, promptTokens].flatMap((tokens) =>
    Array.from({ length: mirrored / eventsPerPost }, (_, part) => ({
      evictions: tokens < promptTokens ? eventsPerPost : 0,
      events: Array.from({ length: eventsPerPost }, (_, i) =>
        JSON.stringify({
          type: tokens < promptTokens ? 'evicted' : 'stored',
          request_id: `r-${part * eventsPerPost + i}`,
          cached_tokens: tokens,
          ...(tokens < promptTokens ? { tier: 'gpu' } : {}),
        }),
      ).join(','),
    })),
  )

  constructor({ adminUrl }: ChildServer) {
    this.#pool = new Pool(adminUrl!, { connections: 1 })
  }

  async postEvents(): Promise<number> {
    const { events, evictions } = this.#batches[this.#batch++ % this.#batches.length]!
    await this.post('events', events)
    return evictions
  }

  /** Posts 100,000 evictions per second, or as many as the proxy accepts. Returns the rate per second. */
  async keepPosting(isOver: () => boolean): Promise<number> {
    const begun = performance.now()
    let evictions = 0
    while (!isOver()) {
      evictions += await this.postEvents()
      const ahead = (evictions / pacedEventsPerSecond) * 1000 - (performance.now() - begun)
      if (ahead > 1) await new Promise((resolve) => setTimeout(resolve, ahead))
    }
    return evictions / ((performance.now() - begun) / 1000)
  }

  async measureRepair(): Promise<number> {
    this.#sequence += 5
    const begun = performance.now()
    if ((await this.#send('events', '')) !== 409) throw new Error('the gap was not noticed')
    const requests = Array.from({ length: 50_000 }, (_, i) => `{"request_id":"r-${i}","cached_tokens":${promptTokens}}`)
    await this.post('snapshot', requests.join(','))
    await this.post('events', '')
    return performance.now() - begun
  }

  async post(kind: 'events' | 'snapshot', items: string | readonly string[]): Promise<void> {
    const status = await this.#send(kind, items)
    if (status !== 200) throw new Error(`status ${status}`)
  }

  close(): Promise<void> {
    return this.#pool.destroy()
  }

  async #send(kind: 'events' | 'snapshot', items: string | readonly string[]): Promise<number> {
    const member = kind === 'events' ? 'events' : 'requests'
    const body = `{"generation":"bench","sequence":${this.#sequence++},"${member}":[${items}]}`
    const headers = { 'content-type': 'application/json' }
    const path = `/v1/replicas/gpu-0/${kind}`
    const { statusCode, body: answer } = await this.#pool.request({ path, method: 'POST', headers, body })
    await answer.dump()
    return statusCode
  }
}
