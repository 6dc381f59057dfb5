import { request } from 'undici'
import { DemoError } from './demo-error.ts'
import type { ChatMessage } from './prompt.ts'

/** The model an engine serves. */
export interface Model {
  readonly name: string
  /** The maximum length of prompt and answer together, in tokens. */
  readonly positions: number
  /**
   * Counts the tokens of the messages, including the chat template; infinite if the engine rejects them as too long.
   */
  readonly countTokens: (messages: readonly ChatMessage[]) => Promise<number>
}

/** Asks an engine for its first model. */
export async function readModel(baseUrl: string): Promise<Model> {
  const response = await request(`${baseUrl}/v1/models`)
  const { data } = (await response.body.json()) as { data?: { id: string; max_model_len?: number }[] }
  const model = data?.[0]
  if (model?.max_model_len === undefined) throw new DemoError(`${baseUrl}/v1/models names no model with its length`)
  const countTokens = countModelTokens.bind(undefined, baseUrl, model.id)
  return { name: model.id, positions: model.max_model_len, countTokens }
}

async function countModelTokens(baseUrl: string, model: string, messages: readonly ChatMessage[]): Promise<number> {
  const response = await request(`${baseUrl}/tokenize`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages }),
  })
  const { count } = (await response.body.json()) as { count?: number }
  // some engines reject a prompt longer than the model's context, others return its count
  if (response.statusCode === 400) return Number.POSITIVE_INFINITY
  if (count === undefined) throw new DemoError(`${baseUrl}/tokenize did not count the tokens of a prompt`)
  return count
}
