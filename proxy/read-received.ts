import { isUtf8 } from 'node:buffer'
import { ProxyError } from './errors.ts'
import { type Hygiene, tidyTools } from './hygiene/tidy-prompt.ts'
import type { PromptApi } from './prompt/prompt.ts'
import { type PromptBody, readPromptBody } from './prompt/prompt-body.ts'

/** A request body as far as it could be understood. */
export interface Received {
  /** undefined when it is encoded, or no JSON object */
  readonly prompt: PromptBody | undefined
  /** the body is no longer the one received: its tools were put in order */
  readonly hasSortedTools: boolean
  /** why its prompt cannot be rewritten; undefined when it can */
  readonly skipped: string | undefined
}

/** Reads the body of a request; throws `invalid_body` for what the client must mend. */
export function readReceived(
  api: PromptApi,
  body: Buffer,
  isEncoded: boolean,
  { sortTools }: Pick<Hygiene, 'sortTools'> = { sortTools: false },
): Received {
  const unread = { prompt: undefined, hasSortedTools: false }
  if (isEncoded) return { ...unread, skipped: 'encoded_body' }
  if (!isUtf8(body)) throw new ProxyError('invalid_body', 'The request body is not valid JSON: it is not UTF-8.')
  const text = withoutByteOrderMark(body.toString())
  const prompt = readPromptBody(api, text)
  if (!prompt) return { ...unread, skipped: 'unexpected_shape' }
  const tidied = sortTools ? tidyTools(text, prompt.members) : text
  const hasSortedTools = tidied !== text
  return {
    prompt: hasSortedTools ? readPromptBody(api, tidied) : prompt,
    hasSortedTools,
    skipped: prompt.set ? undefined : reasonFor(prompt.members),
  }
}

/** Token ids are the engine's to read. */
function reasonFor({ prompt, input_ids: inputIds }: Record<string, unknown>): string {
  const ids = prompt ?? inputIds
  const isTokens = Array.isArray(ids) && ids.flat().length > 0 && ids.flat().every((id) => typeof id === 'number')
  return isTokens ? 'token_ids' : 'unexpected_shape'
}

function withoutByteOrderMark(text: string): string {
  return text.startsWith('\uFEFF') ? text.slice(1) : text
}
