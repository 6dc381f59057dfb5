import { adapterFor } from '#engine-adapters/adapter-for.ts'
import { type AskedEngine, askOf } from './asked-engine.ts'
import { mapAnswer, renderPrompt, type Variant, variants } from './render.ts'
import type { Sample } from './samples.ts'
import type { Task } from './tasks.ts'

const exampleCharacters = 120

/** An answer and the log probabilities of its tokens under each variant of its prompt. */
export interface Scored {
  readonly task: string
  readonly order: Task['order']
  readonly answer: string
  readonly scores: Readonly<Record<Variant, readonly number[]>>
}

/**
 * Asks an engine for an answer to each sample of a task, then how likely it was under each variant of the prompt. `right`:
 * scores right answers instead, as a model that follows the instruction would give them.
 */
export async function collect(
  engine: AskedEngine,
  task: Task,
  { promptTokens, right = false }: { promptTokens: number | undefined; right?: boolean },
): Promise<Scored[]> {
  const scored: Scored[] = []
  for (const [at, { texts, question }] of task.samples.entries()) {
    const shown = task.example ? exampleOf(task, task.samples[(at + 1) % task.samples.length]!) : []
    const messagesOf = (variant: Variant): object[] => [
      ...shown,
      { role: 'user', content: renderPrompt(task, texts, question, variant) },
    ]
    const answer = right
      ? task.example!(texts, question)
      : await answerOf(engine, messagesOf('received'), task.answerTokens)
    const scores: Partial<Record<Variant, readonly number[]>> = {}
    for (const variant of variants) {
      const members = { model: engine.model, messages: messagesOf(variant) }
      const mapped = mapAnswer(task, answer, texts.length, variant)
      const said = await adapterFor(engine.kind).scoreAnswer!(
        { api: 'chat_completions', members, answer: mapped, promptTokens },
        askOf(engine),
      )
      if (said) scores[variant] = said
      else process.stderr.write(`${task.name}: ${variant} is not scored\n`)
    }
    const lengths = new Set(variants.map((variant) => scores[variant]?.length))
    // numbers of one and two digits are of different numbers of tokens
    if (lengths.size === 1)
      scored.push({
        task: right ? `${task.name}: right answers` : task.name,
        order: task.order,
        answer,
        scores: scores as Scored['scores'],
      })
  }
  return scored
}

/** An earlier turn that shows what is asked, about shorter texts of another list. */
function exampleOf(task: Task, { texts, question }: Sample): object[] {
  // all texts where the question may be about any
  const short = (task.samples[0]!.texts.join().length < 400 ? texts : texts.slice(0, 3)).map((text) =>
    text.slice(0, exampleCharacters),
  )
  return [
    { role: 'user', content: renderPrompt(task, short, question, 'received') },
    { role: 'assistant', content: task.example!(short, question) },
  ]
}

async function answerOf(engine: AskedEngine, messages: object[], tokens: number): Promise<string> {
  const body = { model: engine.model, messages, temperature: 0, max_tokens: tokens }
  const said = (await askOf(engine)({ path: '/v1/chat/completions', body })) as {
    choices: [{ message: { content: string } }]
  }
  return said.choices[0].message.content
}
