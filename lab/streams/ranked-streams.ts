import type { ListRequest } from './stream.ts'
import { type Retrieved, readTrace } from './traces.ts'

/** A trace whose lists stand in the order of relevance. */
export interface RankedStream {
  readonly name: string
  readonly requests: readonly ListRequest[]
  /** Whether it has to be recognised within 50 requests; the others recur too seldom, or are short. */
  readonly isDue: boolean
}

const sources = [
  ['rag_cookbook_docs', { top: 15 }, true],
  ['rag_cookbook_code', { top: 15 }, true],
  ['rag_hotpot', { top: 15 }, true],
  ['rag_musique', { top: 15 }, false],
  ['rag_2wiki', { top: 15 }, false],
  ['rag_2wiki', { top: 8, dense: true }, false],
  ['rag_cacheblend_musique', { top: 15 }, false],
  ['rag_cookbook_docs', { top: 5 }, false],
  ['rag_cookbook_code', { top: 5 }, false],
  ['rag_hotpot', { top: 5 }, false],
] as const

/** Words that an application puts around its question: as others may do, instructions, a date, a name. */
const wordings = [
  (question: string): string => question,
  (question: string, i: number): string =>
    `You answer questions from the documents only. Today is 2026-03-${(i % 28) + 1}. If you do not know, say so. Cite the documents.\n\nQuestion: ${question}\nAnswer:`,
] as const

export function rankedStreams(): RankedStream[] {
  return sources.flatMap(([trace, options, isDue]) => {
    const rows = readTrace(trace, options)
    return wordings.map((word, n) => ({
      name: `${trace.slice(4)}, top ${options.top}${'dense' in options ? ', dense' : ''}${n === 0 ? '' : ', instructions'}`,
      requests: rows.map((row: Retrieved, i) => ({
        items: row.items.map(({ text }) => text),
        question: word(row.question, i),
      })),
      isDue,
    }))
  })
}
