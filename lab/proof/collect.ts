import { writeFileSync } from 'node:fs'
import { adapterFor } from '#engine-adapters/adapter-for.ts'
import type { EngineKind } from '#engine-adapters/engine-adapter.ts'
import type { AskScores } from '#engine-adapters/scoring/answer-score.ts'
import { mapAnswer, renderPrompt, type Variant, variants } from './render.ts'
import type { Task } from './tasks.ts'

/** An answer and the log probabilities of its tokens under each variant of its prompt. */
export interface Scored {
  readonly task: string
  readonly order: Task['order']
  readonly answer: string
  readonly scores: Readonly<Record<Variant, readonly number[]>>
}

/** An engine to ask. */
export interface AskedEngine {
  readonly url: string
  readonly kind: EngineKind
  readonly model: string
}

/** Asks an engine for an answer to each sample of a task, then how likely it was under each variant of the prompt. */
export async function collect(engine: AskedEngine, task: Task, promptTokens: number | undefined): Promise<Scored[]> {
  const scored: Scored[] = []
  for (const { texts, question } of task.samples) {
    const messagesOf = (variant: Variant): object[] => [
      { role: 'user', content: renderPrompt(task, texts, question, variant) },
    ]
    const answer = await answerOf(engine, messagesOf('received'), task.answerTokens)
    const scores: Partial<Record<Variant, readonly number[]>> = {}
    for (const variant of variants) {
      const members = { model: engine.model, messages: messagesOf(variant) }
      const mapped = mapAnswer(task, answer, texts.length, variant)
      const said = await adapterFor(engine.kind).scoreAnswer!(
        { api: 'chat_completions', members, answer: mapped, promptTokens },
        askOf(engine),
      )
      if ('tokens' in said) scores[variant] = said.tokens
      else process.stderr.write(`${task.name}: ${variant} is not scored: ${said.unscored}\n`)
    }
    const lengths = new Set(variants.map((variant) => scores[variant]?.length))
    // numbers of one and two digits are of different numbers of tokens
    if (lengths.size === 1) scored.push({ task: task.name, order: task.order, answer, scores: scores as Scored['scores'] })
  }
  return scored
}

export function write(file: string, scored: readonly Scored[]): void {
  writeFileSync(file, `${scored.map((one) => JSON.stringify(one)).join('\n')}\n`)
}

async function answerOf(engine: AskedEngine, messages: object[], tokens: number): Promise<string> {
  const body = { model: engine.model, messages, temperature: 0, max_tokens: tokens }
  const said = (await askOf(engine)({ path: '/v1/chat/completions', body })) as {
    choices: [{ message: { content: string } }]
  }
  return said.choices[0].message.content
}

function askOf({ url }: AskedEngine): AskScores {
  return async ({ path, body }) => {
    const response = await fetch(url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    const text = await response.text()
    if (response.ok) return JSON.parse(text)
    process.stderr.write(`${path}: ${response.status} ${text.slice(0, 300)}\n`)
    return undefined
  }
}
