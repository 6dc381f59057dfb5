import { isObject, tryObject } from './json-object.ts'

interface EngineError {
  readonly message: string
  /** the engine's own number or word for it, mostly the HTTP status again */
  readonly code: number | string | undefined
}

/**
 * Reads an engine's error in any of the shapes that vLLM and SGLang answer with: OpenAI's and Anthropic's `error`,
 * SGLang's flat `object: "error"`, and their web framework's `detail`. Returns undefined if the text is not an error.
 */
export function readEngineError(text: string): EngineError | undefined {
  // undefined for an HTML page or plain text: the caller shows it as it is
  const answer = tryObject(text)
  if (!answer) return undefined
  const { error, detail } = answer
  if (isObject(error) && typeof error.message === 'string') return toError(error.message, error.code)
  // OpenAI's Responses contain `"error": null` without being errors
  if (typeof error === 'string') return toError(error, undefined)
  if (answer.object === 'error' && typeof answer.message === 'string') return toError(answer.message, answer.code)
  if (typeof detail === 'string') return toError(detail, undefined)
  return Array.isArray(detail) ? toError(detail.map(wordOf).join('; '), undefined) : undefined
}

function toError(message: string, code: unknown): EngineError {
  return { message, code: typeof code === 'number' || typeof code === 'string' ? code : undefined }
}

/** The text of one fault found in a body's validation. */
function wordOf(fault: unknown): string {
  if (!isObject(fault)) return String(fault)
  const place = Array.isArray(fault.loc) ? `${fault.loc.join('.')}: ` : ''
  return `${place}${String(fault.msg ?? 'not valid')}`
}
