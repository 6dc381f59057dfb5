import type { EngineClient } from '#engine-adapters/engine-client.ts'

/**
 * Asks an engine once whether it is alive: any answer below 500 will do, since what speaks the API without the path
 * (404) or keeps it to itself (401) is alive too. False when the signal aborts before the answer is whole; never rejects.
 */
export function checkHealth(engine: EngineClient, path: string, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    let isAlive = false
    let abort = (): void => {}
    signal.addEventListener('abort', () => {
      resolve(false)
      abort()
    })
    engine.send(
      { path, method: 'GET', headers: [], body: null },
      {
        onRequestStart: (controller) => {
          abort = () => controller.abort(new Error('the check took too long'))
          // it may have taken too long to connect
          if (signal.aborted) abort()
        },
        onResponseStart: (_controller, status) => {
          isAlive = status < 500
        },
        onResponseData: () => {},
        onResponseEnd: () => resolve(isAlive),
        onResponseError: () => resolve(false),
      },
    )
  })
}
