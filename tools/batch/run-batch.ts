import { setMaxListeners } from 'node:events'
import { existsSync, realpathSync, statSync } from 'node:fs'
import { readEngineError } from '#engine-adapters/read-error.ts'
import { ConfigError } from '#proxy/common/errors.ts'
import type { Config } from '#proxy/config/config.ts'
import { EngineConnection } from '../engine-connection.ts'
import { createProgress } from '../replay/report/replay-progress.ts'
import { type BadLine, BatchFile, type BatchRequest } from './batch-file.ts'
import { BatchCounts, type BatchSummary } from './batch-summary.ts'
import { lockFile } from './lock-file.ts'
import { BatchPlanner, type PlannedRequest } from './plan-batch.ts'
import { isFinal, ResultsFile } from './results-file.ts'
import { type BatchTarget, type SentRequest, sendRequest } from './send-request.ts'

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
    const counts = new BatchCounts()
    const results = new ResultsFile(out)
    const done = new Set<string>()
    results.resume(ids, (customId, body, status) => {
      done.add(customId)
      counts.resumed(status, body)
    })
    for (const line of bad) results.addBad(line)
    const left = planner.plan().filter(({ request }) => !done.has(request.customId))
    const progress = createProgress(ids.size, { isAlways: true })
    progress.begin('running', done.size)
    try {
      await sendAll(file, left, options, (request, sent) => {
        results.add(request, sent)
        counts.sent(sent)
        progress.advance()
      })
    } finally {
      progress.stop()
    }
    const requests = ids.size + bad.length
    return counts.summary(requests, bad.length, (performance.now() - began) / 1_000, options.out)
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

/** Sends requests, several at once, and hands on what came of each, in any order. One that stops stops all. */
async function sendAll(
  file: BatchFile,
  requests: readonly PlannedRequest[],
  { target, concurrency, signal, wait, out }: BatchOptions,
  take: (request: BatchRequest, sent: SentRequest) => void,
): Promise<void> {
  const brokenOff = (why: string): ConfigError =>
    new ConfigError(`${why}: the results so far are in ${out}; the same command goes on from there.`)
  const stopping = new AbortController()
  const ended = AbortSignal.any([signal, stopping.signal])
  // one for each request, and for undici
  setMaxListeners(2 * concurrency, ended)
  const connection = new EngineConnection(target.url, { token: target.key, signal: ended, connections: concurrency })
  let hasAnswered = false
  let failuresInARow = 0
  const left = requests.values()
  const work = async (): Promise<void> => {
    for (const planned of left) {
      const sent = await sendRequest(connection, target, planned, file.bodyOf(planned.request), {
        wait: (milliseconds) => wait(milliseconds, ended),
        hasAnswered: () => hasAnswered,
      })
      hasAnswered ||= sent.status !== undefined
      take(planned.request, sent)
      // a model or an endpoint that is missing says nothing about the others
      if (sent.status === 404) continue
      failuresInARow = sent.status === undefined || !isFinal(sent.status) ? failuresInARow + 1 : 0
      if (failuresInARow < mostFailuresInARow) continue
      const why = sent.status === undefined ? sent.body : `status ${sent.status}: ${excerptOf(sent.body)}`
      throw brokenOff(`${mostFailuresInARow} requests in a row failed (${why})`)
    }
  }
  const stop = (error: unknown): never => {
    stopping.abort(error)
    throw signal.aborted ? brokenOff('broken off') : error
  }
  try {
    await Promise.all(Array.from({ length: concurrency }, () => work().catch(stop)))
  } finally {
    await connection.close()
  }
}

/** In characters. */
const longestExcerpt = 300

function excerptOf(body: string): string {
  const text = readEngineError(body)?.message ?? body
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
