import type { EngineClient } from './engine-client.ts'

/** What an engine answered to a question about itself. */
export interface EngineText {
  readonly status: number
  readonly text: string
}

/** More than any engine has to say of itself. */
const longestAnswer = 8 * 1024 * 1024

/** Asks an engine for a page; undefined when there is no whole answer before the signal aborts. Never rejects. */
export function getFromEngine(
  engine: Pick<EngineClient, 'send'>,
  { path, headers = [] }: { readonly path: string; readonly headers?: string[] },
  signal: AbortSignal,
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
    engine.send(
      { path, method: 'GET', headers, body: null },
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
