import { readFileSync } from 'node:fs'
import { Pool } from 'undici'
import { type Percentiles, toPercentiles } from './percentiles.ts'
import { type ChildServer, startChildServer } from './start-child-server.ts'

/** What one request takes, in milliseconds, direct and through the proxy, taken in turns. */
export interface LatencyFigures {
  readonly bodyBytes: number
  readonly direct: Percentiles
  readonly proxied: Percentiles
  /** CPU of the proxy's process for one request, in milliseconds; undefined where the system does not tell */
  readonly proxyCpu: number | undefined
}

/** What one event of a stream costs, in microseconds. */
export interface StreamFigures {
  readonly events: number
  readonly directWall: number
  readonly proxiedWall: number
  readonly proxyCpu: number | undefined
}

export interface OverheadFigures {
  readonly latency: readonly LatencyFigures[]
  readonly stream: StreamFigures
}

const bodySizes = [1_000, 100_000, 240_000]
const blocks = 15
const warmUp = 100
const requests = 1_000
const streams = 40

/** Measures an engine that takes no time, direct and behind `reprise serve`, each in a process of its own. */
export async function benchOverhead(onProgress: (done: string) => void): Promise<OverheadFigures> {
  const engine = await startChildServer(['--import', 'tsx', 'e2e/bench/instant-engine-double.ts'])
  const listen = ['--listen', '127.0.0.1:0', '--admin-listen', '127.0.0.1:0']
  const proxy = await startChildServer(['bin/reprise', 'serve', ...listen, '--engine', `${engine.url},kind=vllm`])
  const [direct, proxied] = [new Pool(engine.url), new Pool(proxy.url)]
  try {
    const latency: LatencyFigures[] = []
    for (const bodyBytes of bodySizes) {
      latency.push(await benchLatency(direct, proxied, proxy, bodyBytes))
      onProgress(`${bodyBytes} bytes`)
    }
    return { latency, stream: await benchStream(direct, proxied, proxy) }
  } finally {
    await Promise.all([direct.close(), proxied.close()])
    proxy.stop()
    engine.stop()
  }
}

async function benchLatency(
  direct: Pool,
  proxied: Pool,
  proxy: ChildServer,
  bodyBytes: number,
): Promise<LatencyFigures> {
  const durations: { direct: number[]; proxied: number[] } = { direct: [], proxied: [] }
  let cpuBefore = cpuSeconds(proxy.pid)
  for (let i = 0; i < warmUp + requests; i++) {
    if (i === warmUp) cpuBefore = cpuSeconds(proxy.pid)
    const body = requestBody(i, bodyBytes)
    const first = await timeRequest(direct, body)
    const second = await timeRequest(proxied, body)
    if (i < warmUp) continue
    durations.direct.push(first)
    durations.proxied.push(second)
  }
  return {
    bodyBytes,
    direct: toPercentiles(durations.direct),
    proxied: toPercentiles(durations.proxied),
    proxyCpu: perUnit(cpuBefore, cpuSeconds(proxy.pid), requests, 1_000),
  }
}

async function benchStream(direct: Pool, proxied: Pool, proxy: ChildServer): Promise<StreamFigures> {
  const body = requestBody(0, 1_000, { stream: true })
  const walls = { direct: 0, proxied: 0 }
  const events = 1_000
  let cpuBefore = cpuSeconds(proxy.pid)
  for (let i = 0; i < 5 + streams; i++) {
    if (i === 5) cpuBefore = cpuSeconds(proxy.pid)
    const first = await timeRequest(direct, body)
    const second = await timeRequest(proxied, body)
    if (i < 5) continue
    walls.direct += first
    walls.proxied += second
  }
  const perEvent = (milliseconds: number): number => (milliseconds * 1_000) / (streams * events)
  return {
    events,
    directWall: perEvent(walls.direct),
    proxiedWall: perEvent(walls.proxied),
    proxyCpu: perUnit(cpuBefore, cpuSeconds(proxy.pid), streams * events, 1_000_000),
  }
}

async function timeRequest(pool: Pool, body: string): Promise<number> {
  const started = performance.now()
  const response = await pool.request({
    path: '/v1/chat/completions',
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  })
  for await (const _chunk of response.body) {
    // read to the end
  }
  if (response.statusCode !== 200) throw new Error(`status ${response.statusCode}`)
  return performance.now() - started
}

/** A RAG request of about `bytes` bytes with 15 blocks, some of them shared with the requests around it. */
function requestBody(i: number, bytes: number, rest: Record<string, unknown> = {}): string {
  const size = Math.max(1, Math.floor((bytes - 500) / blocks) - 40)
  const documents = Array.from({ length: blocks }, (_, k) => {
    const id = k % 3 === 0 ? k : (i * 7 + k * k) % 500
    return `<document index="${k + 1}">\n${`block ${id} of the corpus. `.repeat(Math.ceil(size / 20)).slice(0, size)}\n</document>`
  })
  const content = `<documents>\n${documents.join('\n')}\n</documents>\n\nQuestion: what does request ${i} want to know?`
  return JSON.stringify({
    ...rest,
    model: 'm',
    messages: [
      { role: 'system', content: 'Answer from the documents.' },
      { role: 'user', content },
    ],
  })
}

/** CPU time a process has used, user and system; undefined where there is no /proc. */
function cpuSeconds(pid: number): number | undefined {
  if (process.platform !== 'linux') return undefined
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
  const ticksPerSecond = 100
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond
}

function perUnit(
  before: number | undefined,
  after: number | undefined,
  units: number,
  scale: number,
): number | undefined {
  return before === undefined || after === undefined ? undefined : ((after - before) * scale) / units
}
