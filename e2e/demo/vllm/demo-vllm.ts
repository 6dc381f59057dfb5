import { Command, Option } from 'commander'
import { findFreePort } from '../find-free-port.ts'
import { fitTurns } from '../fit-turns.ts'
import { loadWorkload, splitWarmUp } from '../load-workload.ts'
import { toPositiveInteger } from '../options.ts'
import { readGain, subtractGain } from '../read-gain.ts'
import { readModel } from '../read-model.ts'
import { renderReport, toJsonReport } from '../report.ts'
import { type CommandRun, runCommand } from '../run-command.ts'
import { runWorkload } from '../run-workload.ts'
import { shareSeenBefore } from '../seen-before.ts'
import { startProxy } from '../start-reprise.ts'
import { summarizeRun } from '../summarize-run.ts'
import { setupVllm } from './setup-vllm.ts'
import { showAnswers } from './show-answers.ts'
import { emptyCache, HOST_DTYPES, type HostDtype, startVllm } from './start-vllm.ts'
import { readTokenKinds, subtractKinds } from './token-kinds.ts'

interface DemoOptions {
  readonly trace?: string
  readonly limit: number
  readonly warmUp?: number
  readonly topK?: number
  readonly maxTokens: number
  readonly concurrency: number
  readonly deviceTokens?: number
  readonly reuse?: true
  readonly hostMb: number
  readonly hostDtype: HostDtype
  readonly plain?: true
  readonly json?: true
}

const REPLICA = 'vllm'
// four sections make prompts of about 2,000 tokens, which a CPU prefills in a few seconds
const CORPUS_TOP_K = 4

const program = new Command('demo:vllm')
  .description('Sends RAG requests to a real vLLM with a real model on this CPU, direct and through reprise.')
  .option('--trace <folder>', 'send a trace folder instead of the demo’s own questions')
  .option('--limit <n>', 'send the first n requests', toPositiveInteger, 150)
  .option(
    '--warm-up <n>',
    'of these, the first n fill the caches and are not measured (default: a third)',
    toPositiveInteger,
  )
  .option('--top-k <n>', `documents per question (demo: ${CORPUS_TOP_K}, trace: all)`, toPositiveInteger)
  .option('--max-tokens <n>', 'length of an answer', toPositiveInteger, 32)
  .option('--concurrency <n>', 'requests at once', toPositiveInteger, 1)
  .option('--device-tokens <n>', 'size of vLLM’s own cache in tokens', toPositiveInteger)
  .option('--reuse', 'behind reprise, run vLLM with the plugin, which reuses at any position')
  .option('--host-mb <n>', 'host memory for what is reused', toPositiveInteger, 1024)
  .addOption(new Option('--host-dtype <type>', 'how numbers are stored there').choices(HOST_DTYPES).default('model'))
  .option('--plain', 'separate documents only by blank lines: nothing shows where one ends')
  .option('--json', 'print one JSON object instead of the table')
  .exitOverride((end) => process.exit(end.exitCode === 0 ? 0 : 2))
  .parse()

await runCommand('demo:vllm', (run) => demonstrate(run, program.opts<DemoOptions>()))

async function demonstrate({ children, interrupted }: CommandRun, options: DemoOptions): Promise<number> {
  const { trace, limit, maxTokens, deviceTokens, topK = trace === undefined ? CORPUS_TOP_K : undefined } = options
  const workload = await loadWorkload({ trace, topK, limit, isPlain: options.plain ?? false })
  // a mistake is told before anything is installed
  splitWarmUp(workload.turns, options.warmUp)

  const installation = await setupVllm(children)
  const engine = await startVllm(children, installation, { deviceTokens })
  const model = await readModel(engine.url)
  const { turns, ...fitted } = await fitTurns(workload.turns, model, maxTokens)
  const { warmUp, measured } = splitWarmUp(turns, options.warmUp)
  const send = { model: model.name, maxTokens, concurrency: options.concurrency, interrupted }
  // the engine's first prompt includes start-up costs, so it is sent before measuring
  const start = { ...send, label: 'start' }
  await runWorkload(turns.slice(0, 1), { ...start, baseUrl: engine.url })
  await emptyCache(engine)
  await runWorkload(warmUp, { ...send, label: 'direct, warm-up', baseUrl: engine.url })
  const direct = await runWorkload(measured, { ...send, label: 'direct', baseUrl: engine.url })

  const adminPort = await findFreePort()
  let server = engine
  if (options.reuse) {
    await engine.stop()
    const reuse = {
      hostBytes: options.hostMb * 2 ** 20,
      hostDtype: options.hostDtype,
      callbackUrl: `http://127.0.0.1:${adminPort}/v1/replicas/${REPLICA}`,
    }
    server = await startVllm(children, installation, { deviceTokens, reuse })
    await runWorkload(turns.slice(0, 1), { ...start, baseUrl: server.url })
  }
  await emptyCache(server, options)
  const proxy = await startProxy(children, { engineUrl: server.url, replica: REPLICA, adminPort })
  await runWorkload(warmUp, { ...send, label: 'through reprise, warm-up', baseUrl: proxy.url })
  const before = options.reuse && (await readTokenKinds(server.url))
  const adminUrl = `http://127.0.0.1:${adminPort}`
  const gainBefore = await readGain(adminUrl, warmUp.length)
  const reprise = await runWorkload(measured, { ...send, label: 'through reprise', baseUrl: proxy.url })
  const kinds = before && subtractKinds(await readTokenKinds(server.url), before)
  const gain = subtractGain(await readGain(adminUrl, turns.length), gainBefore)
  await proxy.stop()
  await server.stop()

  const comparison = { direct: summarizeRun(direct), reprise: summarizeRun(reprise) }
  const warm_up = warmUp.length
  const head = {
    workload: workload.name,
    engine: 'vLLM on this CPU',
    model,
    fitted: { ...fitted, turns: measured },
    warm_up,
  }
  const report = { ...head, comparison, gain, seen_before: shareSeenBefore(measured, warmUp), kinds }
  process.stdout.write(options.json ? toJsonReport(report) : `${renderReport(report)}\n${showAnswers(direct, reprise)}`)
  return direct.failures.length + reprise.failures.length > 0 ? 1 : 0
}
