/** Whose HTTP dialect is spoken. */
export type EngineKind = 'vllm' | 'sglang'

/** What FastAPI calls what it refuses itself: unknown routes, and bodies of another shape. */
const frameworkTypes = ['Bad Request', 'Not Found', 'Method Not Allowed', 'Request Entity Too Large']

/** A request the engine refuses; the HTTP server puts it into the engine's shape. */
export class EngineError extends Error {
  readonly status: number
  readonly type: string
  readonly param: string | null

  constructor(status: number, type: string, message: string, param: string | null = null) {
    super(message)
    this.status = status
    this.type = type
    this.param = param
  }
}

export function badRequest(message: string, param: string | null = null): EngineError {
  return new EngineError(400, 'BadRequestError', message, param)
}

export function invalidBody(message: string): EngineError {
  return new EngineError(400, 'Bad Request', message)
}

/**
 * The body that tells of `error`. vLLM nests it, SGLang's OpenAI routes do not, its own and FastAPI's say less.
 * Anthropic's routes have Anthropic's shape, but not for what is refused before they are reached.
 */
export function toErrorBody(kind: EngineKind, path: string, error: EngineError): unknown {
  const { message, type, param, status } = error
  if (path.startsWith('/v1/messages') && !frameworkTypes.includes(type)) {
    return { type: 'error', error: { type: kind === 'vllm' ? type : 'invalid_request_error', message } }
  }
  if (kind === 'vllm') return { error: { message, type, param, code: status } }
  if (frameworkTypes.includes(type) && status !== 400) return { detail: message }
  if (path === '/generate') return { error: { message } }
  return { object: 'error', message, type, param, code: status }
}
