/** Whose HTTP dialect is spoken. */
export type EngineKind = 'vllm' | 'sglang'

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

/** The body that tells of `error`: vLLM nests it, SGLang's OpenAI routes do not, its own and FastAPI's say less. */
export function toErrorBody(kind: EngineKind, path: string, error: EngineError): unknown {
  const { message, type, param, status } = error
  if (kind === 'vllm') return { error: { message, type, param, code: status } }
  if (status === 404 || status === 405) return { detail: message }
  if (path === '/generate') return { error: { message } }
  return { object: 'error', message, type, param, code: status }
}
