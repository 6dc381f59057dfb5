import { readCorpus } from './corpus.ts'
import { DemoError } from './demo-error.ts'
import { askQuestions } from './questions.ts'
import { createRetriever } from './retrieve.ts'
import { readTrace } from './trace.ts'
import type { Workload } from './workload.ts'

export interface WorkloadOptions {
  /** A trace folder; without one, the demo's own corpus and questions are used. */
  readonly trace: string | undefined
  readonly topK: number | undefined
  readonly limit: number | undefined
  /** Whether only blank lines separate documents. */
  readonly isPlain?: boolean
}

/** Number of sections sent with each of the demo's own questions. */
export const DEFAULT_TOP_K = 10

/** Loads the requests to send; a limit keeps only the first ones. */
export async function loadWorkload({ trace, topK, limit, isPlain = false }: WorkloadOptions): Promise<Workload> {
  const { name, turns } = trace === undefined ? await loadDemo(topK ?? DEFAULT_TOP_K) : await loadTrace(trace, topK)
  if (turns.length === 0) throw new DemoError(`${name} holds no requests`)
  const first = turns.slice(0, limit)
  return { name, turns: isPlain ? first.map((turn) => ({ ...turn, isPlain })) : first }
}

/** Divides turns into those that fill the caches, by default a third, and those that are measured. */
export function splitWarmUp<T>(turns: readonly T[], given?: number): { warmUp: readonly T[]; measured: readonly T[] } {
  const first = given ?? Math.floor(turns.length / 3)
  if (first >= turns.length) {
    throw new DemoError(`--warm-up ${first} leaves none of ${turns.length} requests to measure`, 2)
  }
  return { warmUp: turns.slice(0, first), measured: turns.slice(first) }
}

async function loadDemo(topK: number): Promise<Workload> {
  const sections = await readCorpus()
  return { name: 'documentation of the installed packages', turns: askQuestions(createRetriever(sections), topK) }
}

/** A trace includes the retrieved blocks; top-k only truncates them. */
async function loadTrace(folder: string, topK: number | undefined): Promise<Workload> {
  const { name, turns } = await readTrace(folder)
  return { name, turns: turns.map((turn) => ({ ...turn, blocks: turn.blocks.slice(0, topK) })) }
}
