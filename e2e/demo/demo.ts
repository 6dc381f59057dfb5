import { Command, Option } from 'commander'
import type { Children } from './children.ts'
import { findFreePort } from './find-free-port.ts'
import { fitTurns } from './fit-turns.ts'
import { DEFAULT_TOP_K, loadWorkload, splitWarmUp } from './load-workload.ts'
import { toCapacity, toPositiveInteger } from './options.ts'
import { readModel } from './read-model.ts'
import { registerChunks } from './register-chunks.ts'
import { renderReport, toJsonReport } from './report.ts'
import { type CommandRun, runCommand } from './run-command.ts'
import { runWorkload } from './run-workload.ts'
import { type EmulatorOptions, type Server, startEmulator, startProxy } from './start-reprise.ts'
import { summarizeRun } from './summarize-run.ts'

interface DemoOptions {
  readonly trace?: string
  readonly capacityTokens: number
  readonly limit?: number
  readonly warmUp?: number
  readonly concurrency: number
  readonly topK?: number
  readonly prefillTokensPerSecond: number
  readonly plain?: true
  readonly json?: true
}

const REPLICA = 'demo'
const ANSWER_TOKENS = 32

const program = new Command('demo')
  .description('Sends the requests of a small RAG application to an engine emulator, direct and through reprise.')
  .option('--trace <folder>', 'send a trace folder instead of the demo’s own questions')
  .addOption(
    new Option('--capacity-tokens <n>', 'size of the engine’s cache in tokens, or "unlimited"')
      .argParser(toCapacity)
      .default(Number.POSITIVE_INFINITY, 'unlimited'),
  )
  .option('--limit <n>', 'send only the first n requests', toPositiveInteger)
  .option(
    '--warm-up <n>',
    'of these, the first n fill the caches and are not measured (default: a third)',
    toPositiveInteger,
  )
  .option('--concurrency <n>', 'requests at once', toPositiveInteger, 1)
  .option('--top-k <n>', `documents per question (demo: ${DEFAULT_TOP_K}, trace: all)`, toPositiveInteger)
  .option('--prefill-tokens-per-second <n>', 'how fast the emulator reads a prompt', toPositiveInteger, 20_000)
  .option('--plain', 'separate documents only by blank lines; they are registered with reprise first')
  .option('--json', 'print one JSON object instead of the table')
  .exitOverride((end) => process.exit(end.exitCode === 0 ? 0 : 2))
  .parse()

await runCommand('demo', (run) => demonstrate(run, program.opts<DemoOptions>()))

async function demonstrate({ children, interrupted }: CommandRun, options: DemoOptions): Promise<number> {
  const { trace, topK, limit, concurrency } = options
  const workload = await loadWorkload({ trace, topK, limit, isPlain: options.plain ?? false })

  const emulator = await startEmulator(children, toEmulatorOptions(options))
  const model = await readModel(emulator.url)
  const { turns, ...fitted } = await fitTurns(workload.turns, model, ANSWER_TOKENS)
  const { warmUp, measured } = splitWarmUp(turns, options.warmUp)
  const send = { model: model.name, maxTokens: ANSWER_TOKENS, concurrency, interrupted }
  await runWorkload(warmUp, { ...send, label: 'direct, warm-up', baseUrl: emulator.url })
  const direct = await runWorkload(measured, { ...send, label: 'direct', baseUrl: emulator.url })
  await emulator.stop()

  const proxy = await startProxiedEmulator(children, options)
  if (options.plain) await registerChunks(proxy.adminUrl, workload.turns)
  await runWorkload(warmUp, { ...send, label: 'through reprise, warm-up', baseUrl: proxy.url })
  const reprise = await runWorkload(measured, { ...send, label: 'through reprise', baseUrl: proxy.url })
  await proxy.stop()

  const comparison = { direct: summarizeRun(direct), reprise: summarizeRun(reprise) }
  const report = {
    workload: workload.name,
    engine: nameEngine(options),
    model,
    fitted: { ...fitted, turns: measured },
    warm_up: warmUp.length,
    comparison,
  }
  process.stdout.write(options.json ? toJsonReport(report) : renderReport(report))
  return direct.failures.length + reprise.failures.length > 0 ? 1 : 0
}

async function startProxiedEmulator(
  children: Children,
  options: DemoOptions,
): Promise<Server & { readonly adminUrl: string }> {
  const adminPort = await findFreePort()
  const callback = `http://127.0.0.1:${adminPort}/v1/replicas/${REPLICA}`
  const emulator = await startEmulator(children, { ...toEmulatorOptions(options), callback })
  const proxy = await startProxy(children, { engineUrl: emulator.url, replica: REPLICA, adminPort })
  const stop = async (): Promise<void> => {
    await proxy.stop()
    await emulator.stop()
  }
  return { url: proxy.url, adminUrl: `http://127.0.0.1:${adminPort}`, stop }
}

function toEmulatorOptions({ capacityTokens, prefillTokensPerSecond }: DemoOptions): EmulatorOptions {
  return { capacityTokens, prefillTokensPerSecond, callback: undefined }
}

function nameEngine({ capacityTokens }: DemoOptions): string {
  const capacity = Number.isFinite(capacityTokens) ? `${capacityTokens.toLocaleString('en-US')} tokens` : 'unlimited'
  return `engine emulator (cache: ${capacity})`
}
