import { once } from 'node:events'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { text as readText } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { Children } from '../demo/children.ts'
import { findFreePort } from '../demo/find-free-port.ts'
import { loadWorkload } from '../demo/load-workload.ts'
import { SYSTEM_MESSAGE, toUserMessage } from '../demo/prompt.ts'
import { setupVllmTestModel } from '../demo/vllm/setup-vllm.ts'
import type { Turn } from '../demo/workload.ts'
import { postJson, startTestProxy } from '../start-test-proxy.ts'
import { printTable, report } from './print-table.ts'
import { sayMachine } from './say-machine.ts'

/*
 * `npm run bench:checkpoints -- FOLDER LIMIT`: sends the first requests of a trace through the proxy to real vLLMs on the
 * CPU, one after another: a small model with full attention only, one with windows, one with states. The latter two with
 * the checkpoints that vLLM keeps itself, and with borders. Prints a Markdown table.
 */

const models = { llama: 'float32', gemma3: 'float32', qwen3_5: 'bfloat16' }
const plugin = join(import.meta.dirname, '../../engine-adapters/vllm/plugin')
const paths = [plugin, join(plugin, '../../python'), join(plugin, '../../../kernels'), join(plugin, 'tests')]
/** With fewer, blocks keep their order: a short answer may be a number. */
const answerTokens = 9
/** An engine reports a step within this time. */
const settleMilliseconds = 150

interface Sums {
  prompt: number
  cached: number
  requests: number
  /** requests of which exactly what was predicted was found */
  predicted: number
  errors: number
}

/** Where the engine's reports go; it stays at its address while proxies come and go. */
class Relay {
  readonly #server: Server
  /** the port of the current proxy's admin listener */
  to = 0
  /** whether the proxy is told of checkpoints */
  tells = true

  constructor() {
    this.#server = createServer(async (incoming, response) => {
      const { checkpoints, ...rest } = JSON.parse(await readText(incoming)) as Record<string, unknown>
      const told = this.tells && checkpoints !== undefined ? { ...rest, checkpoints } : rest
      const answer = await postJson(`http://127.0.0.1:${this.to}${incoming.url}`, told).catch(() => undefined)
      response.writeHead(answer?.status ?? 503).end(await answer?.text())
    })
  }

  async listen(): Promise<string> {
    await once(this.#server.listen(0, '127.0.0.1'), 'listening')
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1/replicas/engine`
  }

  close(): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }
}

async function run(url: string, turns: readonly Turn[], relay: Relay, salt: string): Promise<Sums> {
  const adminPort = await findFreePort()
  relay.to = adminPort
  const proxy = await startTestProxy({ url, kind: 'vllm' }, { admin: { listen: `127.0.0.1:${adminPort}` } })
  while (!(await (await fetch(`${proxy.adminUrl}/v1/mirror`)).text()).includes('"exact"')) await delay(50)
  const sums = { prompt: 0, cached: 0, requests: 0, predicted: 0, errors: 0 }
  for (const turn of turns) {
    const body = {
      model: 'test',
      messages: [SYSTEM_MESSAGE, toUserMessage(turn)],
      max_tokens: answerTokens,
      cache_salt: salt,
    }
    const answer = await postJson(`${proxy.url}/v1/chat/completions`, body)
    const { usage } = (await answer.json()) as { usage?: Usage }
    if (!usage) {
      sums.errors += 1
      continue
    }
    const { cached_tokens } = usage.prompt_tokens_details
    sums.prompt += usage.prompt_tokens
    sums.cached += cached_tokens
    sums.requests += 1
    sums.predicted += Number(Number(answer.headers.get('x-reprise-predicted-cached-tokens')) === cached_tokens)
    await delay(settleMilliseconds)
  }
  await proxy.close()
  return sums
}

interface Usage {
  prompt_tokens: number
  prompt_tokens_details: { cached_tokens: number }
}

const [trace, limit] = process.argv.slice(2)
const children = new Children()
const folder = await mkdtemp(join(tmpdir(), 'reprise-checkpoints-'))
const { python, model } = await setupVllmTestModel(children)
const { name, turns } = await loadWorkload({ trace, topK: undefined, limit: Number(limit) || undefined })
sayMachine()
const rows: string[][] = []
for (const [kind, dtype] of Object.entries(models)) {
  const own = join(folder, kind)
  const env = { ...process.env, HF_HUB_OFFLINE: '1', PYTHONPATH: paths.join(delimiter) }
  const make = `from pathlib import Path; from checkpoint_models import *; make_checkpoint_model(Path('${own}'), '${kind}')`
  await children.run(python, ['-c', make], env)
  for (const file of ['tokenizer.json', 'tokenizer_config.json', 'chat_template.jinja']) {
    await cp(join(model, file), join(own, file))
  }
  const relay = new Relay()
  const REPRISE_CALLBACK_URL = await relay.listen()
  const port = String(await findFreePort())
  const connector = {
    kv_connector: 'RepriseConnector',
    kv_connector_module_path: 'reprise_vllm.connector',
    kv_role: 'kv_both',
  }
  const flags = ['--host', '127.0.0.1', '--port', port, '--served-model-name', 'test', '--max-model-len', '16384']
  const cache = ['--block-size', '32', '--dtype', dtype, '--enforce-eager', '--enable-prompt-tokens-details']
  const engine = children.start(
    join(dirname(python), 'vllm'),
    ['serve', own, ...flags, ...cache, '--kv-transfer-config', JSON.stringify(connector)],
    {
      ...env,
      REPRISE_CALLBACK_URL,
      VLLM_CPU_KVCACHE_SPACE: '2',
      VLLM_CPU_OMP_THREADS_BIND: 'nobind',
      OMP_NUM_THREADS: '1',
    },
  )
  const url = `http://127.0.0.1:${port}`
  while (!(await fetch(`${url}/health`).catch(() => undefined))?.ok) await delay(500)
  for (const tells of kind === 'llama' ? [true] : [false, true]) {
    relay.tells = tells
    report(`${kind}, ${tells ? 'with borders' : 'as vLLM does it'} …`)
    const { prompt, cached, requests, predicted, errors } = await run(url, turns, relay, `pass-${tells}`)
    const share = (part: number, all: number): string => `${((100 * part) / all).toFixed(1)} %`
    const row = [
      kind,
      tells ? 'told' : 'not told',
      String(requests),
      String(errors),
      String(prompt),
      share(cached, prompt),
    ]
    rows.push([...row, share(predicted, requests)])
    report(rows.at(-1)!.join(' '))
  }
  await engine.stop()
  relay.close()
}
const head = ['model', 'borders', 'requests', 'errors', 'prompt tokens', 'cached', 'predicted exactly']
printTable(`${name}, checkpoints`, head, rows)
await rm(folder, { recursive: true, force: true })
