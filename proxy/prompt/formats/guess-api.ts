import { isObject } from '#engine-adapters/json-object.ts'
import type { PromptApi } from '#engine-adapters/prompt-api.ts'
import { isParts } from '../body/prompt-builder.ts'

/** Guesses from its shape which API a body is written for. */
export function guessApi(body: unknown): PromptApi {
  if (!isObject(body)) return 'chat_completions'
  if ('input' in body) return 'responses'
  if ('prompt' in body) return 'completions'
  if ('text' in body || 'input_ids' in body) return 'generate'
  const parts = (isParts(body.messages) ? body.messages : []).flatMap(({ content }) =>
    isParts(content) ? content : [],
  )
  const isAnthropic = 'system' in body || parts.some(({ type }) => type === 'tool_result' || type === 'tool_use')
  return isAnthropic ? 'messages' : 'chat_completions'
}
