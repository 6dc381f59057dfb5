import type { EngineClient } from './engine-client.ts'

/** A question of ours to an engine, in addition to the requests it serves. */
export interface EngineQuestion {
  readonly path: string
  /** JSON to post; undefined: a GET request */
  readonly json?: string
  /** names and values, alternating */
  readonly headers?: readonly string[]
}

interface EngineText {
  readonly status: number
  readonly text: string
}

/** More than the tokens of any prompt need, or an engine's description of itself. */
const longestAnswer = 64 * 1024 * 1024

/**
 * Asks an engine something; undefined if no complete answer arrives before the signal aborts. Never rejects. `onError` is
 * told why the connection failed.
 */
export function askEngine(
  engine: Pick<EngineClient, 'send'>,
  question: EngineQuestion,
  signal: AbortSignal,
  onError: (error: Error) => void = () => {},
): Promise<EngineText | undefined> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    let status = 0
    let bytes = 0
    let abort = (): void => {}
    const onAbort = (): void => {
      resolve(undefined)
      abort()
    }
    signal.addEventListener('abort', onAbort, { once: true })
    const end = (answer: EngineText | undefined): void => {
      signal.removeEventListener('abort', onAbort)
      resolve(answer)
    }
    engine.send(toRequest(question), {
      onRequestStart: (controller) => {
        abort = () => controller.abort(new Error('the question took too long'))
        if (signal.aborted) abort()
      },
      onResponseStart: (_controller, code) => {
        status = code
      },
      onResponseData: (_controller, chunk) => {
        bytes += chunk.length
        if (bytes > longestAnswer) abort()
        else chunks.push(chunk)
      },
      onResponseEnd: () => end({ status, text: Buffer.concat(chunks).toString() }),
      onResponseError: (_controller, error) => {
        onError(error)
        end(undefined)
      },
    })
  })
}

function toRequest({ path, json, headers = [] }: EngineQuestion): Parameters<EngineClient['send']>[0] {
  if (json === undefined) return { path, method: 'GET', headers: [...headers], body: null }
  const body = Buffer.from(json)
  const described = ['content-type', 'application/json', 'content-length', String(body.length)]
  return { path, method: 'POST', headers: [...described, ...headers], body }
}
