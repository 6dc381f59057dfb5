import type { Context } from '#index/context-block.ts'
import { planContexts } from '#index/plan/plan-contexts.ts'
import { buildIndex } from '#tools/replay/paper/build-index.ts'
import { toRequestId } from './bench-index.ts'
import { type Corpus, createDraw } from './draw-contexts.ts'

/** Time to plan a batch, in seconds. */
export interface PlanFigures {
  readonly contexts: number
  readonly blocks: string
  readonly reprise: number
  /** the paper's index over the batch (Algorithm 4); undefined if it would take too long */
  readonly paper: number | undefined
}

const sizes = [2_000, 12_000, 100_000]
const mostForPaper = 2_000

/** Plans batches of contexts of 15 blocks, from 2,000 contexts up. */
export function* benchPlan(): Generator<PlanFigures> {
  for (const contexts of sizes) {
    const corpora: readonly [string, Omit<Corpus, 'blocksPerContext'>][] = [
      [`${contexts / 2}`, { blocks: contexts / 2 }],
      [`${contexts / 2}, and four in half of all requests each`, { blocks: contexts / 2, hotBlocks: 4 }],
      ['2000', { blocks: 2_000 }],
    ]
    for (const [blocks, corpus] of corpora) {
      const draw = createDraw({ ...corpus, blocksPerContext: 15 })
      const batch = Array.from({ length: contexts }, draw)
      yield { contexts, blocks, reprise: timeReprise(batch), paper: timePaper(batch) }
    }
  }
}

function timeReprise(batch: readonly Context[]): number {
  // varied block sizes, as in practice: equal sizes give equal savings, and age breaks such ties
  const sizeOf = (id: string): number => 100 + ((id.charCodeAt(0) * 64 + id.charCodeAt(1)) % 997)
  const sized = batch.map((context) => ({ context, sizes: context.map(sizeOf) }))
  return time(() => planContexts(sized))
}

function timePaper(batch: readonly Context[]): number | undefined {
  if (batch.length > mostForPaper) return undefined
  const named = new Map(batch.map((context, i) => [toRequestId(i), context]))
  return time(() => buildIndex(named))
}

function time(work: () => void): number {
  const started = process.hrtime.bigint()
  work()
  return Number(process.hrtime.bigint() - started) / 1e9
}
