import { setTimeout as delay } from 'node:timers/promises'
import { type Command, Option } from 'commander'
import { ConfigError } from '#proxy/common/errors.ts'
import type { Mode } from '#proxy/common/request-options.ts'
import { readPriority } from '#proxy/common/request-options.ts'
import type { Config, EngineSettings } from '#proxy/config/config.ts'
import { argument, atLeast, readEngine, readUrl } from '#proxy/config/read-arguments.ts'

interface BatchFlags {
  engine?: EngineSettings[]
  proxy?: string
  out?: string
  config?: string
  mode?: Mode
  set?: boolean
  concurrency: number
  priority: number
  json?: boolean
}

/** Adds `batch`; what it needs is loaded when it runs, so that it does not slow down the start of other commands. */
export function addBatchCommand(program: Command): void {
  program
    .command('batch')
    .description("runs a file of requests in OpenAI's batch format, in the order that lets them share most")
    .argument('<file>', 'a line of {"custom_id","method":"POST","url","body"} for each request')
    .option(
      '--engine <url[,kind=…][,id=…]>',
      "an engine, as for 'serve'; repeat for each (key: REPRISE_ENGINE_API_KEY)",
      (text: string, earlier: EngineSettings[] = []) => [...earlier, argument(readEngine)(text)],
    )
    .option('--proxy <url>', 'a running proxy, instead of engines (key: REPRISE_API_KEY)', argument(readUrl))
    .option(
      '--out <file>',
      'where results go, and from which a run that was cut off goes on (default: FILE.results.jsonl)',
    )
    .option('--config <file>', "settings as for 'serve', such as templates")
    .addOption(
      new Option(
        '--mode <mode>',
        "what may be moved, as for 'serve' (default: on, if the settings name none); with --proxy, its own mode counts",
      ).choices(['auto', 'ask', 'on', 'off']),
    )
    .option('--set', 'states that the order of the lists in these prompts means nothing')
    .option('--concurrency <n>', 'how many requests run at once', atLeast(1), 16)
    .option('--priority <n>', 'against other requests of the proxy: lower is sooner', argument(readPriority), 10)
    .option('--json', 'a summary for programs')
    .action(run)
}

async function run(path: string, flags: BatchFlags): Promise<void> {
  const { proxy: url, json } = flags
  const { runBatch } = await import('./run-batch.ts')
  const { renderSummary } = await import('./batch-summary.ts')
  const config = await readConfig(flags)
  if (url === undefined ? config.engines.length === 0 : flags.engine !== undefined) {
    throw new ConfigError('Name either engines with --engine or --config, or a running proxy with --proxy.', 2)
  }
  const startOwn = async (): Promise<{ readonly url: string; close(): Promise<void> }> => {
    const { startProxy } = await import('#proxy/start/main.ts')
    return startProxy({ ...config, drain_delay_seconds: 0, drain_seconds: 0 })
  }
  const own = url === undefined ? await startOwn() : undefined
  const ending = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => ending.abort())
  try {
    const summary = await runBatch(path, {
      target: {
        url: url ?? own!.url,
        name: url ?? config.engines.map((engine) => engine.url).join(', '),
        key: url === undefined ? undefined : process.env.REPRISE_API_KEY || undefined,
        priority: flags.priority,
        isSet: flags.set ?? false,
      },
      config,
      out: flags.out ?? `${path.replace(/\.jsonl$/, '')}.results.jsonl`,
      concurrency: flags.concurrency,
      signal: ending.signal,
      wait: (milliseconds, signal) => delay(milliseconds, undefined, { signal }),
    })
    if (summary.requests === 0) process.stderr.write(`${path} has no requests.\n`)
    process.stdout.write(json ? `${JSON.stringify(summary)}\n` : renderSummary(summary))
    if (summary.failed + summary.invalid > 0) process.exitCode = 1
  } finally {
    await own?.close()
  }
}

/** Reads the configuration of a proxy that only this batch reaches. */
async function readConfig({ config: file, engine, mode }: BatchFlags): Promise<Config> {
  const { loadConfig } = await import('#proxy/config/sources/config-source.ts')
  const { toConfig } = await import('#proxy/config/config.ts')
  const flags = { ...(engine && { engine }), ...(mode && { mode }) }
  const { settings } = loadConfig({ file, environment: process.env, flags })
  return {
    ...toConfig({ ...settings, mode: settings.mode ?? 'on' }),
    listen: '127.0.0.1:0',
    admin: { listen: '127.0.0.1:0' },
    tls: {},
    keys: { forward_client_authorization: false },
    headers: true,
    logs: { ...settings.logs, level: 'error' },
  }
}
