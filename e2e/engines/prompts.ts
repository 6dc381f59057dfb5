import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { readCorpus } from '../demo/corpus.ts'
import { askQuestions } from '../demo/questions.ts'
import { createRetriever } from '../demo/retrieve.ts'
import { readTrace } from '../demo/trace.ts'
import type { Turn } from '../demo/workload.ts'

/** About 2,000 tokens in a prompt: the test model's vocabulary is small. */
const documentsPerPrompt = 6
const longestDocument = 800
/**
 * What a reader was given is of use to his next question. It is over by then, and far from eviction: of requests that an
 * engine gets at the same moment chance decides which is the first.
 */
const readers = 6

const traceFolder =
  process.env.REPRISE_TEST_TRACE ?? join(import.meta.dirname, '..', '..', '..', 'shared', 'data', 'rag_musique')

/** Whether the trace of real retrievals is here. */
export const hasTrace: boolean = existsSync(traceFolder)

/** Real questions with their documents, as a retriever ranked them. */
export async function traceTurns(count: number): Promise<Turn[]> {
  const { turns } = await readTrace(traceFolder)
  return turns.slice(0, count)
}

/**
 * Questions about the documentation that comes with the checkout's packages, each with the sections that a search finds
 * for it: in turn one that people ask, and one of a reader who goes on from section to section. Always the same.
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

/** What so many readers read who have each begun in another part, and take turns. */
function inTurn<T>(items: readonly T[], readers: number): T[] {
  const part = Math.ceil(items.length / readers)
  return items
    .map((item, i) => ({ item, reader: Math.floor(i / part), at: i % part }))
    .toSorted((a, b) => a.at - b.at || a.reader - b.reader)
    .map(({ item }) => item)
}

/** Turns without end: the same again and again, each time with a question of its own. */
export function* repeatedly(turns: readonly Turn[]): Generator<Turn> {
  for (let round = 1; ; round++) {
    for (const turn of turns) yield { ...turn, id: `${turn.id} (${round})`, question: `${turn.question} (${round})` }
  }
}
