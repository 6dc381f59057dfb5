/** The engine whose HTTP dialect is used. */
export type EngineKind = 'vllm' | 'sglang'

/** FastAPI's error types for what it refuses itself: unknown routes, and bodies of the wrong shape. */
const frameworkTypes = ['Bad Request', 'Not Found', 'Method Not Allowed', 'Request Entity Too Large']

/** An error for a request that the engine refuses; the HTTP server writes it in the engine's format. */
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
 * The response body for `error`. vLLM nests it, SGLang's OpenAI routes do not; SGLang's own and FastAPI's contain less.
 * Anthropic's routes use Anthropic's format, except for requests refused before they are reached.
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
