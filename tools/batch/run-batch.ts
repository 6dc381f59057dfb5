import { setMaxListeners } from 'node:events'
import { existsSync, realpathSync, statSync } from 'node:fs'
import { tryJson } from '#engine-adapters/json-object.ts'
import { ConfigError } from '#proxy/common/errors.ts'
import type { Config } from '#proxy/config/config.ts'
import { EngineConnection } from '../engine-connection.ts'
import { createProgress, type ReplayProgress } from '../replay/report/replay-progress.ts'
import { type BadLine, BatchFile } from './batch-file.ts'
import { BatchCounts, type BatchSummary } from './batch-summary.ts'
import { lockFile } from './lock-file.ts'
import { BatchPlanner, type PlannedRequest } from './plan-batch.ts'
import { isFinal, ResultsFile } from './results-file.ts'
import { type BatchTarget, sendRequest } from './send-request.ts'

/** How a batch is run. */
export interface BatchOptions {
  readonly target: BatchTarget
  /** how blocks are found */
  readonly config: Config
  readonly out: string
  /** how many requests run at once */
  readonly concurrency: number
  readonly signal: AbortSignal
  /** Waits while the engine is busy. Rejects once the signal is aborted. */
  readonly wait: (milliseconds: number, signal: AbortSignal) => Promise<void>
}

/** After so many requests in a row that all fail, and not by their bodies, the engine or the key is at fault. */
const mostFailuresInARow = 20

/**
 * Runs a batch in the order of its plan, and writes each result as it comes. Goes on from the results that the file has
 * already. Throws a ConfigError if it is broken off, or no request gets through any more.
 */
export async function runBatch(path: string, options: BatchOptions): Promise<BatchSummary> {
  const began = performance.now()
  const out = findOut(path, options.out)
  const file = new BatchFile(path)
  const release = lockFile(out)
  try {
    const { planner, bad, ids } = await readBatch(file, options.config)
    const run = new BatchRun(file, new ResultsFile(out), options)
    run.resume(ids)
    for (const line of bad) run.refuse(line)
    await run.send(planner.plan())
    return run.counts.summary(ids.size + bad.length, (performance.now() - began) / 1_000, options.out)
  } finally {
    release()
    file.close()
  }
}

async function readBatch(
  file: BatchFile,
  config: Config,
): Promise<{ planner: BatchPlanner; bad: BadLine[]; ids: Map<string, string> }> {
  const planner = new BatchPlanner(config)
  const bad: BadLine[] = []
  const ids = new Map<string, string>()
  const progress = createProgress(file.size, { isAlways: true })
  for (const read of file.read()) {
    if ('code' in read) {
      bad.push(read)
      continue
    }
    ids.set(read.request.customId, read.request.id)
    await planner.add(read.request, read.body)
    progress.begin('planning, by bytes', read.request.at + read.request.length)
  }
  progress.stop()
  return { planner, bad, ids }
}

class BatchRun {
  readonly counts: BatchCounts = new BatchCounts()
  readonly #file: BatchFile
  readonly #options: BatchOptions
  readonly #results: ResultsFile
  readonly #done = new Set<string>()
  #failuresInARow = 0
  #hasAnswered = false

  constructor(file: BatchFile, results: ResultsFile, options: BatchOptions) {
    this.#file = file
    this.#results = results
    this.#options = options
  }

  resume(ids: ReadonlyMap<string, string>): void {
    this.#results.resume(
      (customId) => ids.get(customId),
      (customId, body, status) => {
        this.#done.add(customId)
        if (this.counts.answered(status, body)) this.counts.counts.resumed += 1
      },
    )
  }

  refuse(line: BadLine): void {
    this.#results.addBad(line)
    this.counts.counts.invalid += 1
  }

  /** Sends what has no result yet, several at once. Results come in any order. */
  async send(plan: readonly PlannedRequest[]): Promise<void> {
    const { concurrency, signal, target } = this.#options
    const left = plan.filter(({ request }) => !this.#done.has(request.customId)).values()
    const progress = createProgress(plan.length, { isAlways: true })
    progress.begin('running', this.#done.size)
    // one that stops stops all
    const stopping = new AbortController()
    const ended = AbortSignal.any([signal, stopping.signal])
    // one for each request, and for undici
    setMaxListeners(2 * concurrency, ended)
    const { url, key: token } = target
    const connection = new EngineConnection(url, { token, signal: ended, connections: concurrency })
    const work = async (): Promise<void> => {
      for (const planned of left) await this.#sendOne(connection, planned, ended, progress)
    }
    try {
      await Promise.all(
        Array.from({ length: concurrency }, () =>
          work().catch((error) => {
            stopping.abort(error)
            throw error
          }),
        ),
      )
    } catch (error) {
      if (signal.aborted) throw this.#brokenOff('broken off')
      throw error
    } finally {
      progress.stop()
      await connection.close()
    }
  }

  async #sendOne(
    connection: EngineConnection,
    planned: PlannedRequest,
    signal: AbortSignal,
    progress: ReplayProgress,
  ): Promise<void> {
    const { target, wait } = this.#options
    const sent = await sendRequest(connection, target, planned, this.#file.bodyOf(planned.request), {
      wait: (milliseconds) => wait(milliseconds, signal),
      hasAnswered: () => this.#hasAnswered,
    })
    this.#hasAnswered ||= sent.status !== undefined
    this.#results.add(planned.request, sent)
    const { counts, skipped } = this.counts
    this.counts.answered(sent.status, sent.body)
    if (sent.moved > 0) counts.moved += 1
    if (sent.skipped !== undefined) skipped[sent.skipped] = (skipped[sent.skipped] ?? 0) + 1
    progress.advance()
    // a model or an endpoint that is missing says nothing about the others
    if (sent.status === 404) return
    const isDown = sent.status === undefined || !isFinal(sent.status)
    this.#failuresInARow = isDown ? this.#failuresInARow + 1 : 0
    if (this.#failuresInARow < mostFailuresInARow) return
    const why = sent.status === undefined ? sent.body : `status ${sent.status}: ${excerptOf(sent.body)}`
    throw this.#brokenOff(`${mostFailuresInARow} requests in a row failed (${why})`)
  }

  #brokenOff(why: string): ConfigError {
    return new ConfigError(
      `${why}: the results so far are in ${this.#options.out}; the same command goes on from there.`,
    )
  }
}

/** In characters. */
const longestExcerpt = 300

function excerptOf(body: string): string {
  const { error } = (tryJson(body) ?? {}) as { error?: { message?: unknown } }
  const text = typeof error?.message === 'string' ? error.message : body
  return text.slice(0, longestExcerpt).replaceAll(/\s+/g, ' ').trim()
}

/** Returns the path that results are written to, behind links. Throws a ConfigError if it is no file, or the batch. */
function findOut(path: string, out: string): string {
  if (!existsSync(out)) return out
  if (!statSync(out).isFile()) {
    throw new ConfigError(`the results cannot be written to ${out}: name a file with --out.`, 2)
  }
  const real = realpathSync(out)
  if (!existsSync(path) || realpathSync(path) !== real) return real
  throw new ConfigError(
    `the results cannot be written to ${out}: the batch is read from it. Name another with --out.`,
    2,
  )
}
