import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { emulatorDefaults, startEmulator } from '#emulator/emulator.ts'
import { defaultConfig } from '#proxy/config/sources/config-source.ts'
import { runBatch } from '../../tools/batch/run-batch.ts'
import { toBody, toComparedRequests } from '../../tools/compare/compared-requests.ts'
import { readTrace } from '../../tools/replay/trace/read-trace.ts'
import { postJson, startTestProxy } from '../start-test-proxy.ts'
import { printTable, report } from './print-table.ts'
import { requireTraces } from './require-traces.ts'
import { sayMachine } from './say-machine.ts'

/*
 * `npm run bench:batch -- FOLDER… [LIMIT]`: the requests of traces as a batch, in front of the engine emulator: in the order of
 * the file, straight and through the proxy, and as `reprise batch` runs them. Prints a Markdown table of hit ratios.
 */

/** With fewer, numbered blocks keep their order: a short answer may be a number. */
const answerTokens = 9
const capacities = [20_000, 200_000]
const concurrencies = [1, 16]

interface Usage {
  readonly usage: { readonly prompt_tokens: number; readonly prompt_tokens_details: { readonly cached_tokens: number } }
}
type Body = Readonly<Record<string, unknown>>

/** Runs something in front of an emulator with an empty cache. */
async function inFrontOf<T>(capacityTokens: number, run: (url: string) => Promise<T>): Promise<T> {
  const options = { ...emulatorDefaults, capacityTokens, prefillTokensPerSecond: 1e9, host: '127.0.0.1', port: 0 }
  const emulator = await startEmulator(options)
  try {
    return await run(emulator.url)
  } finally {
    await emulator.close()
  }
}

/** Sends bodies one after the other. Returns the share of their tokens that was cached. */
async function inOrder(url: string, bodies: readonly Body[]): Promise<number> {
  const sum = { prompt: 0, cached: 0 }
  for (const body of bodies) {
    const { usage } = (await (await postJson(`${url}/v1/chat/completions`, body)).json()) as Usage
    sum.prompt += usage.prompt_tokens
    sum.cached += usage.prompt_tokens_details.cached_tokens
  }
  return sum.cached / sum.prompt
}

async function throughProxy<T>(url: string, run: (url: string) => Promise<T>): Promise<T> {
  const proxy = await startTestProxy({ url, kind: 'vllm' })
  try {
    return await run(proxy.url)
  } finally {
    await proxy.close()
  }
}

async function asBatch(url: string, file: string, concurrency: number): Promise<number> {
  const out = `${file}.results`
  const target = { url, name: url, key: undefined, priority: 10, isSet: false }
  const { signal } = new AbortController()
  const { hit_ratio: ratio } = await runBatch(file, {
    target,
    config: { ...defaultConfig(), mode: 'on' },
    out,
    concurrency,
    signal,
    wait: async () => {},
  })
  rmSync(out)
  return ratio!
}

const args = process.argv.slice(2)
const limit = Number(args.at(-1)) || undefined
const traces = requireTraces(limit === undefined ? args : args.slice(0, -1), 'bench:batch -- FOLDER… [LIMIT]')
const folder = mkdtempSync(join(tmpdir(), 'reprise-bench-'))
const rows: string[][] = []
for (const trace of traces) {
  const requests = toComparedRequests((await readTrace(trace)).requests.slice(0, limit))
  const bodies = requests.map((own) => ({ model: 'm', max_tokens: answerTokens, ...toBody(own, []) }))
  const file = join(folder, 'batch.jsonl')
  const lines = bodies.map((body, i) => ({ custom_id: String(i), method: 'POST', url: '/v1/chat/completions', body }))
  writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  for (const capacity of capacities) {
    report(`${trace}, ${capacity} tokens`)
    const shares = [
      await inFrontOf(capacity, (url) => inOrder(url, bodies)),
      await inFrontOf(capacity, (url) => throughProxy(url, (own) => inOrder(own, bodies))),
    ]
    for (const concurrency of concurrencies) {
      const run = (url: string): Promise<number> => throughProxy(url, (own) => asBatch(own, file, concurrency))
      shares.push(await inFrontOf(capacity, run))
    }
    const percent = shares.map((share) => `${(100 * share).toFixed(1)} %`)
    rows.push([`${basename(trace)} (${bodies.length})`, capacity.toLocaleString('en-US'), ...percent])
  }
}
rmSync(folder, { recursive: true })
sayMachine()
const planned = concurrencies.map((count) => `planned, ${count} at once`)
printTable(
  'Hit ratio of a batch',
  ['trace (requests)', 'cache, tokens', 'order of the file', 'through the proxy', ...planned],
  rows,
)
