import type { EngineClient } from '#engine-adapters/engine-client.ts'

/** More than the tokens of any prompt. */
const longestAnswer = 64 * 1024 * 1024

/** Posts JSON to an engine; undefined when there is no whole answer before the signal aborts. Never rejects. */
export function askEngine(
  engine: EngineClient,
  question: { readonly path: string; readonly body: string; readonly headers: readonly string[] },
  signal: AbortSignal,
): Promise<{ readonly status: number; readonly text: string } | undefined> {
  const body = Buffer.from(question.body)
  const headers = ['content-type', 'application/json', 'content-length', String(body.length), ...question.headers]
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
    const end = (answer: { status: number; text: string } | undefined): void => {
      signal.removeEventListener('abort', onAbort)
      resolve(answer)
    }
    engine.send(
      { path: question.path, method: 'POST', headers, body },
      {
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
        onResponseError: () => end(undefined),
      },
    )
  })
}
