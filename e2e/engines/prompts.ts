import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { readCorpus } from '../demo/corpus.ts'
import { askQuestions } from '../demo/questions.ts'
import { createRetriever } from '../demo/retrieve.ts'
import { readTrace } from '../demo/trace.ts'
import type { Turn } from '../demo/workload.ts'

/** These give about 2,000 tokens per prompt, because the test model's vocabulary is small. */
const documentsPerPrompt = 6
const longestDocument = 800
/**
 * Readers take turns, so that a reader's next question, which can reuse the previous documents, is not sent at the same
 * moment: by then the previous request has finished but is far from eviction. Of requests that an engine receives at
 * the same moment, chance decides which is first.
 */
const readers = 4

const traceFolder =
  process.env.REPRISE_TEST_TRACE ?? join(import.meta.dirname, '..', '..', '..', 'shared', 'data', 'rag_musique')

/** Whether the trace of real retrievals is available. */
export const hasTrace: boolean = existsSync(traceFolder)

/** Reads real questions with their documents, as ranked by a retriever. */
export async function traceTurns(count: number): Promise<Turn[]> {
  const { turns } = await readTrace(traceFolder)
  return turns.slice(0, count)
}

/**
 * Returns questions about the documentation in the checkout's packages, each with the sections a search finds for it.
 * They alternate between questions people ask and those of readers who go from section to section. Always the same.
 */
export async function checkoutTurns(count: number): Promise<Turn[]> {
  const sections = (await readCorpus()).map((section) => ({ ...section, text: section.text.slice(0, longestDocument) }))
  const retrieve = createRetriever(sections)
  const asked = askQuestions(retrieve, documentsPerPrompt)
  return inTurn(sections, readers)
    .flatMap(({ id, title }, at) => {
      const question = `What is there to know about ${title}?`
      const blocks = retrieve(question, documentsPerPrompt).map((found) => ({ id: found.id, text: found.text }))
      return [asked[at] ?? [], { id, conversation: undefined, tenant: undefined, question, blocks }].flat()
    })
    .slice(0, count)
}

/** Interleaves the items as if `readers` readers, each starting in a different part, took turns reading one. */
function inTurn<T>(items: readonly T[], readers: number): T[] {
  const part = Math.ceil(items.length / readers)
  return items
    .map((item, i) => ({ item, reader: Math.floor(i / part), at: i % part }))
    .toSorted((a, b) => a.at - b.at || a.reader - b.reader)
    .map(({ item }) => item)
}

/** Repeats the turns endlessly, each time with a different question. */
export function* repeatedly(turns: readonly Turn[]): Generator<Turn> {
  for (let round = 1; ; round++) {
    for (const turn of turns) yield { ...turn, id: `${turn.id} (${round})`, question: `${turn.question} (${round})` }
  }
}
