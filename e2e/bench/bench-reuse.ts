import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text as readText } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { emulatorDefaults, startEmulator } from '#emulator/emulator.ts'
import type { RunningProxy } from '#proxy/start/main.ts'
import { findFreePort } from '../demo/find-free-port.ts'
import { loadWorkload } from '../demo/load-workload.ts'
import { SYSTEM_MESSAGE, toUserMessage } from '../demo/prompt.ts'
import type { Turn } from '../demo/workload.ts'
import { reusing } from '../emulated-reuse/reusing-cache.ts'
import { postJson, startTestProxy } from '../start-test-proxy.ts'
import { printTable, report } from './print-table.ts'
import { sayMachine } from './say-machine.ts'

/*
 * `npm run bench:reuse -- FOLDER…`: sends traces through the proxy to an emulator that reuses KV at any position.
 * Blocks are moved only if that saves more than the annotation costs, always, or never. Prints Markdown tables.
 */

const policies = ['by the rule', 'always', 'never'] as const
type Policy = (typeof policies)[number]
const ratios = [0.15, 0]
/** Long enough for callbacks to arrive, so that no table depends on their speed. */
const settleMilliseconds = 15

interface Sums {
  prompt: number
  cached: number
  reused: number
  moved: number
}

/** Sends all requests one after another and adds up the usage the engine reports. */
async function run(turns: readonly Turn[], reuse: number, policy: Policy): Promise<Sums> {
  const { proxy, close } = await startSide(reuse, policy === 'always')
  const headers: Record<string, string> = policy === 'never' ? { 'x-reprise-options': 'reorder=off' } : {}
  const sums = { prompt: 0, cached: 0, reused: 0, moved: 0 }
  for (const turn of turns) {
    const body = { messages: [SYSTEM_MESSAGE, toUserMessage(turn)], max_tokens: 9 }
    const answer = await postJson(`${proxy.url}/v1/chat/completions`, body, { headers })
    const { usage } = (await answer.json()) as { usage: Usage }
    sums.prompt += usage.prompt_tokens
    sums.cached += usage.prompt_tokens_details.cached_tokens
    sums.reused += usage.prompt_tokens_details.reused_tokens ?? 0
    sums.moved += answer.headers.get('x-reprise-moved') === '0' ? 0 : 1
    await delay(settleMilliseconds)
  }
  await close()
  return sums
}

interface Usage {
  prompt_tokens: number
  prompt_tokens_details: { cached_tokens: number; reused_tokens?: number }
}

/** Starts a proxy in front of an emulator whose caches never evict, and waits until its mirror is exact. */
async function startSide(
  reuse: number,
  hidesReuse: boolean,
): Promise<{ proxy: RunningProxy; close: () => Promise<void> }> {
  const adminPort = await findFreePort()
  const relay = await startRelay(adminPort, hidesReuse)
  const callbackUrl = `http://127.0.0.1:${(relay.address() as AddressInfo).port}/v1/replicas/engine`
  const endless = { capacityTokens: Number.POSITIVE_INFINITY, prefillTokensPerSecond: 1e9 }
  const address = { host: '127.0.0.1', port: 0 }
  const emulator = await startEmulator({
    ...emulatorDefaults,
    ...endless,
    ...address,
    ...reusing(reuse, { hostTokens: 1e9 }),
    callbackUrl,
  })
  const admin = { listen: `127.0.0.1:${adminPort}` }
  const proxy = await startTestProxy({ url: emulator.url, kind: 'vllm' }, { admin })
  while (!(await (await fetch(`${proxy.adminUrl}/v1/mirror`)).text()).includes('"exact"')) await delay(20)
  const close = async (): Promise<void> => {
    await proxy.close()
    await emulator.close()
    relay.close()
  }
  return { proxy, close }
}

/** Relays an engine's reports to the proxy. `hidesReuse` drops `reuse`, so that blocks move as for any engine. */
async function startRelay(adminPort: number, hidesReuse: boolean): Promise<Server> {
  const server = createServer(async (incoming, response) => {
    const { reuse, ...rest } = JSON.parse(await readText(incoming)) as Record<string, unknown>
    const told = hidesReuse || reuse === undefined ? rest : { ...rest, reuse }
    const answer = await postJson(`http://127.0.0.1:${adminPort}${incoming.url}`, told).catch(() => undefined)
    response.writeHead(answer?.status ?? 503).end(await answer?.text())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

sayMachine()
const share = (part: number, all: number): string => `${((100 * part) / all).toFixed(1)} %`
for (const trace of process.argv.slice(2)) {
  const { name, turns } = await loadWorkload({ trace, topK: undefined, limit: undefined })
  for (const ratio of ratios) {
    report(`${name}, ${ratio} computed again …`)
    const rows: string[][] = []
    for (const policy of policies) {
      const { prompt, cached, reused, moved } = await run(turns, ratio, policy)
      const work = prompt - cached - reused
      const [exact, taken, computed] = [cached, reused, work].map((tokens) => share(tokens, prompt)) as [
        string,
        string,
        string,
      ]
      rows.push([policy, String(prompt), exact, taken, `${work} (${computed})`, `${moved} of ${turns.length}`])
    }
    const head = ['blocks moved', 'prompt tokens', 'exact', 'reused', 'computed', 'requests with moved blocks']
    printTable(`${name}, of what is reused ${share(ratio, 1)} computed again`, head, rows)
  }
}
