import { randomBytes } from 'node:crypto'
import { ConfigError } from '#proxy/common/errors.ts'
import { EngineConnection } from '../engine-connection.ts'
import { createProgress } from '../replay/report/replay-progress.ts'
import { checkOutputs, writeFileAtOnce } from '../replay/report/write-file-at-once.ts'
import { readTrace } from '../replay/trace/read-trace.ts'
import { type ComparedRequest, digestRequests, isChat, toComparedRequests } from './compared-requests.ts'
import { type Comparison, compare } from './comparison.ts'
import { type PassName, passes } from './passes.ts'
import { renderMarkdown } from './render-comparison.ts'
import { ResultsFile } from './results-file.ts'
import { type PassSettings, runPasses, takesSalts } from './run-passes.ts'

export interface CompareOptions extends Omit<PassSettings, 'model' | 'run'> {
  readonly model?: string | undefined
  readonly limit?: number
  readonly topK?: number
  readonly passes: readonly PassName[]
  /** undefined: in the current directory, named after the trace */
  readonly results?: string
  readonly report?: string
}

/** Sends a trace in all requested ways, compares the results, and writes the requested files. */
export async function runCompare(path: string, options: CompareOptions): Promise<Comparison> {
  const { engine, maxTokens, topK, limit, report } = options
  checkOutputs(
    [report, options.results].filter((file) => file !== undefined),
    path,
  )
  const trace = await readTrace(path)
  const chats = trace.requests.filter(isChat)
  if (chats.length === 0) {
    throw new ConfigError(`No request of ${path} went to /v1/chat/completions: compare sends no others.`)
  }
  const leftOut = trace.requests.length - chats.length
  const requests = uniquely(toComparedRequests(chats.slice(0, limit), topK))
  const model = options.model ?? (await findModel(options))
  const wanted = passes.filter(({ name }) => name === 'received' || options.passes.includes(name))
  const { url, kind = 'openai' } = engine
  const setting = { trace: trace.name, url, kind, model, maxTokens, topK: topK ?? null }
  const file = options.results ?? `reprise-compare-${trace.name}.jsonl`
  const results = new ResultsFile(file, setting, digestRequests(requests))
  const run = randomBytes(6).toString('hex')
  const progress = createProgress(wanted.length * requests.length)
  try {
    await runPasses(wanted, { requests, settings: { ...options, model, run }, results, progress })
  } catch (error) {
    progress.stop()
    if (options.signal.aborted)
      throw new ConfigError(`broken off; the answers so far are in ${file}: the same command goes on from there`)
    if (error instanceof ConfigError) throw error
    const why = (error as Error).message
    throw new ConfigError(`The engine did not answer: ${why}. The same command goes on from here.`)
  }
  progress.stop()
  const about = { trace: trace.name, engine: url, model, caches_apart: takesSalts(engine), left_out: leftOut }
  const names = wanted.map(({ name }) => name)
  const comparison = compare(about, names, requests, (pass, id) => results.get(pass, id))
  if (report !== undefined) writeFileAtOnce(report, [renderMarkdown(comparison)])
  return comparison
}

/** Makes ids unique: requests with the same id would be taken for one. */
function uniquely(requests: readonly ComparedRequest[]): ComparedRequest[] {
  const seen = new Map<string, number>()
  return requests.map((own) => {
    const count = (seen.get(own.id) ?? 0) + 1
    seen.set(own.id, count)
    return count === 1 ? own : { ...own, id: `${own.id}#${count}` }
  })
}

async function findModel({ engine: { url }, engineKey: token, signal }: CompareOptions): Promise<string> {
  const connection = new EngineConnection(url, { token, signal })
  const { fault, text, json } = await connection.get('/v1/models')
  await connection.close()
  if (fault) throw new ConfigError(`The engine at ${url} cannot be reached (${text}): start it, or mend --engine.`)
  const model = (json as { data?: { id?: string }[] } | undefined)?.data?.[0]?.id
  if (model === undefined) throw new ConfigError(`The engine at ${url} lists no model: name one with --model.`)
  return model
}
