import { parseArgs } from 'node:util'
import { type Emulator, emulatorDefaults, startEmulator } from '#emulator/emulator.ts'
import { readTrace } from '#tools/replay/trace/read-trace.ts'
import { printTable, report } from '../../e2e/bench/print-table.ts'
import { requireTraces } from '../../e2e/bench/require-traces.ts'
import { sayMachine } from '../../e2e/bench/say-machine.ts'
import { findFreePort } from '../../e2e/demo/find-free-port.ts'
import { postJson, ragRequest, startTestProxy } from '../../e2e/start-test-proxy.ts'
import { numberOf, Random } from '../streams/random.ts'

/*
 * `npm run bench:agents -- TRACE…`: Chains of Agents (ContextPilot §7.2) before two emulated engines. The documents of a
 * question are divided among agents. Each is sent its own, what the agents before it found, and the question; a manager
 * answers. Prints what the engines found cached and computed, by the way in which agents' requests are sent to them.
 */

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    engines: { type: 'string', default: '2' },
    'capacity-tokens': { type: 'string', default: '65536' },
    'prefill-tokens-per-second': { type: 'string', default: '50000' },
    documents: { type: 'string', default: '1,3' },
    'at-once': { type: 'string', default: '4' },
    runs: { type: 'string', default: '3' },
  },
})
const engineCount = Number(values.engines)

/** A request of an agent: which of a chain's it is, and what it is about. */
interface Agent {
  readonly chain: string
  readonly number: number
}
type Choose = (agent: Agent, turn: number) => number

const straight: Readonly<Record<string, Choose>> = {
  'in turn': (_, turn) => turn % engineCount,
  'a chain stays at its engine': ({ chain }) => numberOf(chain, engineCount),
  'an agent stays at its engine': ({ number }) => number % engineCount,
}
const unmoved = 'reprise, nothing moved'
const ways = [...Object.keys(straight), unmoved, 'reprise']

interface Chain {
  readonly question: string
  /** by agent */
  readonly documents: readonly (readonly string[])[]
}
interface Answer {
  readonly choices: readonly { readonly message: { readonly content: string } }[]
  readonly usage: { readonly prompt_tokens: number; readonly prompt_tokens_details: { readonly cached_tokens: number } }
}

/** Sums over an engine's requests. */
interface Sums {
  prompt: number
  cached: number
}

async function readChains(trace: string, documents: number): Promise<Chain[]> {
  const { requests } = await readTrace(trace)
  return requests.map(({ query, blocks }) => {
    const texts = blocks.map(({ text }) => text!)
    const parts = Array.from({ length: Math.ceil(texts.length / documents) }, (_, i) =>
      texts.slice(i * documents, (i + 1) * documents),
    )
    return { question: query!, documents: parts }
  })
}

/** Runs chains, so many at once, each one's agents one after the other. */
async function runChains(chains: readonly Chain[], send: (agent: Agent, body: object) => Promise<Answer>) {
  const waiting = [...chains]
  const worker = async (): Promise<void> => {
    for (let chain = waiting.shift(); chain; chain = waiting.shift()) {
      const { question } = chain
      let found = 'nothing'
      // the manager has no documents
      for (const [number, documents] of [...chain.documents, []].entries()) {
        const asked = `${question}\nFound so far: ${found}`
        const { choices } = await send({ chain: question, number }, ragRequest(asked, documents, { max_tokens: 9 }))
        found = choices[0]!.message.content
      }
    }
  }
  await Promise.all(Array.from({ length: Number(values['at-once']) }, worker))
}

/** Sends chains in one way to engines with empty caches. Returns the sums of each engine. */
async function measure(chains: readonly Chain[], way: string): Promise<Sums[]> {
  const options = {
    ...emulatorDefaults,
    capacityTokens: Number(values['capacity-tokens']),
    prefillTokensPerSecond: Number(values['prefill-tokens-per-second']),
    host: '127.0.0.1',
    port: 0,
  }
  const adminPort = await findFreePort()
  // as with the plugin, the proxy is told what is evicted
  const callbackUrlOf = (id: string) =>
    way in straight ? {} : { callbackUrl: `http://127.0.0.1:${adminPort}/v1/replicas/${id}` }
  const ids = Array.from({ length: engineCount }, (_, i) => `gpu-${i}`)
  const emulators: Emulator[] = await Promise.all(ids.map((id) => startEmulator({ ...options, ...callbackUrlOf(id) })))
  const engines = emulators.map(({ url }, i) => ({ url, kind: 'vllm' as const, id: ids[i]! }))
  const proxy =
    way in straight
      ? undefined
      : await startTestProxy(undefined, { engines, admin: { listen: `127.0.0.1:${adminPort}` } })
  const headers = way === unmoved ? { 'x-reprise-options': 'reorder=off, dedup=off' } : undefined
  const sums = engines.map((): Sums => ({ prompt: 0, cached: 0 }))
  let turn = 0
  try {
    await runChains(chains, async (agent, body) => {
      const place = straight[way]?.(agent, turn++)
      const url = place === undefined ? proxy!.url : engines[place]!.url
      const response = await postJson(`${url}/v1/chat/completions`, body, headers && { headers })
      if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`)
      const replica = place ?? engines.findIndex(({ id }) => id === response.headers.get('x-reprise-replica'))
      const answer = (await response.json()) as Answer
      sums[replica]!.prompt += answer.usage.prompt_tokens
      sums[replica]!.cached += answer.usage.prompt_tokens_details.cached_tokens
      return answer
    })
  } finally {
    await proxy?.close()
    await Promise.all(emulators.map((emulator) => emulator.close()))
  }
  return sums
}

const rangeOf = (all: readonly number[], digits: number): string => {
  const [least, most] = [Math.min(...all).toFixed(digits), Math.max(...all).toFixed(digits)]
  return least === most ? least : `${least} to ${most}`
}

const traces = requireTraces(positionals, 'bench:agents -- FOLDER… [--runs N] [--documents N,N] [--engines N]')
sayMachine()
for (const trace of traces) {
  for (const documents of values.documents.split(',').map(Number)) {
    const chains = await readChains(trace, documents)
    const runs = Array.from({ length: Number(values.runs) }, (_, seed) => new Random(seed + 1).shuffled(chains))
    const computed = new Map<string, { cached: number; all: number; busiest: number }[]>()
    for (const way of ways) {
      report(`${trace}, ${documents} documents an agent, ${way} …`)
      const figures = []
      for (const run of runs) {
        const sums = await measure(run, way)
        const [prompt, cached] = [
          sums.reduce((all, one) => all + one.prompt, 0),
          sums.reduce((all, one) => all + one.cached, 0),
        ]
        const busiest = Math.max(...sums.map((one) => one.prompt - one.cached))
        figures.push({ cached: cached / prompt, all: prompt - cached, busiest })
      }
      computed.set(way, figures)
    }
    const base = computed.get(ways[0]!)!
    printTable(
      `${trace}: ${chains.length} chains, ${documents} documents an agent, ${runs.length} orders of the chains`,
      ['sent', 'cached', 'computed, to in turn', 'by the busier engine, to in turn'],
      ways.map((way) => {
        const own = computed.get(way)!
        return [
          way,
          rangeOf(
            own.map(({ cached }) => cached),
            3,
          ),
          rangeOf(
            own.map(({ all }, i) => all / base[i]!.all),
            2,
          ),
          rangeOf(
            own.map(({ busiest }, i) => busiest / base[i]!.busiest),
            2,
          ),
        ]
      }),
    )
  }
}
