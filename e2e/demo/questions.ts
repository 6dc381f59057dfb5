import questions from './questions.json' with { type: 'json' }
import type { Retrieve } from './retrieve.ts'
import type { Turn } from './workload.ts'

/** Returns the committed questions as turns, each with the sections retrieved for it. */
export function askQuestions(retrieve: Retrieve, topK: number): Turn[] {
  const previous = new Map<string, string>()
  return questions.map(({ conversation, question }, at) => {
    const before = previous.get(conversation)
    previous.set(conversation, question)
    // a follow-up does not name its topic, so the query includes the question before it
    const query = before === undefined ? question : `${before} ${question}`
    const blocks = retrieve(query, topK).map(({ id, text }) => ({ id, text }))
    return { id: `q${at + 1}`, conversation, tenant: undefined, question, blocks }
  })
}
