import { Command } from 'commander'
import { findFreePort } from '../find-free-port.ts'
import { fitTurns } from '../fit-turns.ts'
import { loadWorkload } from '../load-workload.ts'
import { toPositiveInteger } from '../options.ts'
import { readModel } from '../read-model.ts'
import { renderReport, toJsonReport } from '../report.ts'
import { type CommandRun, runCommand } from '../run-command.ts'
import { runWorkload } from '../run-workload.ts'
import { startProxy } from '../start-reprise.ts'
import { summarizeRun } from '../summarize-run.ts'
import { setupVllm } from './setup-vllm.ts'
import { showAnswers } from './show-answers.ts'
import { emptyCache, startVllm } from './start-vllm.ts'

interface DemoOptions {
  readonly trace?: string
  readonly limit: number
  readonly topK?: number
  readonly maxTokens: number
  readonly json?: true
}

const REPLICA = 'vllm'
// four sections make prompts of about 2,000 tokens, which a CPU reads in some seconds
const CORPUS_TOP_K = 4

const program = new Command('demo:vllm')
  .description('Sends RAG requests to a real vLLM with a real model on this CPU, direct and through reprise.')
  .option('--trace <folder>', 'send a trace folder instead of the demo’s own questions')
  .option('--limit <n>', 'send the first n requests', toPositiveInteger, 60)
  .option('--top-k <n>', `documents per question (demo: ${CORPUS_TOP_K}, trace: all)`, toPositiveInteger)
  .option('--max-tokens <n>', 'length of an answer', toPositiveInteger, 32)
  .option('--json', 'print one JSON object instead of the table')
  .exitOverride((end) => process.exit(end.exitCode === 0 ? 0 : 2))
  .parse()

await runCommand('demo:vllm', (run) => demonstrate(run, program.opts<DemoOptions>()))

async function demonstrate({ children, interrupted }: CommandRun, options: DemoOptions): Promise<number> {
  const { trace, limit, maxTokens, topK = trace === undefined ? CORPUS_TOP_K : undefined } = options
  const workload = await loadWorkload({ trace, topK, limit })

  const engine = await startVllm(children, await setupVllm(children))
  const model = await readModel(engine.url)
  const fitted = await fitTurns(workload.turns, model, maxTokens)
  const send = { model: model.name, maxTokens, concurrency: 1, interrupted }
  // the engine's very first prompt pays for its start; it is sent before the clock runs
  await runWorkload(fitted.turns.slice(0, 1), { ...send, label: 'warm-up', baseUrl: engine.url })
  await emptyCache(engine)
  const direct = await runWorkload(fitted.turns, { ...send, label: 'direct', baseUrl: engine.url })

  await emptyCache(engine)
  const adminPort = await findFreePort()
  const proxy = await startProxy(children, { engineUrl: engine.url, replica: REPLICA, adminPort })
  const reprise = await runWorkload(fitted.turns, { ...send, label: 'through reprise', baseUrl: proxy.url })
  await proxy.stop()
  await engine.stop()

  const comparison = { direct: summarizeRun(direct), reprise: summarizeRun(reprise) }
  const report = { workload: workload.name, engine: 'vLLM on this CPU', model, fitted, comparison }
  process.stdout.write(options.json ? toJsonReport(report) : `${renderReport(report)}\n${showAnswers(direct, reprise)}`)
  return direct.failures.length + reprise.failures.length > 0 ? 1 : 0
}
