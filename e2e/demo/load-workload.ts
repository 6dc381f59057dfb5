import { readCorpus } from './corpus.ts'
import { DemoError } from './demo-error.ts'
import { askQuestions } from './questions.ts'
import { createRetriever } from './retrieve.ts'
import { readTrace } from './trace.ts'
import type { Workload } from './workload.ts'

export interface WorkloadOptions {
  /** A trace folder; without one the demo's own corpus and questions are sent. */
  readonly trace: string | undefined
  readonly topK: number | undefined
  readonly limit: number | undefined
  /** Documents are parted by blank lines alone. */
  readonly isPlain?: boolean
}

/** Sections given with each of the demo's own questions. */
export const DEFAULT_TOP_K = 10

/** The requests to send; a limit keeps the first of them. */
export async function loadWorkload({ trace, topK, limit, isPlain = false }: WorkloadOptions): Promise<Workload> {
  const { name, turns } = trace === undefined ? await loadDemo(topK ?? DEFAULT_TOP_K) : await loadTrace(trace, topK)
  if (turns.length === 0) throw new DemoError(`${name} holds no requests`)
  const first = turns.slice(0, limit)
  return { name, turns: isPlain ? first.map((turn) => ({ ...turn, isPlain })) : first }
}

async function loadDemo(topK: number): Promise<Workload> {
  const sections = await readCorpus()
  return { name: 'documentation of the installed packages', turns: askQuestions(createRetriever(sections), topK) }
}

/** A trace comes with its retrieval; a top-k only cuts it short. */
async function loadTrace(folder: string, topK: number | undefined): Promise<Workload> {
  const { name, turns } = await readTrace(folder)
  return { name, turns: turns.map((turn) => ({ ...turn, blocks: turn.blocks.slice(0, topK) })) }
}
