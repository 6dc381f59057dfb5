import type { EngineClient } from '#engine-adapters/engine-client.ts'

/**
 * Checks once whether an engine is alive. Any status below 500 counts, since an engine without this path (404) or with
 * a protected one (401) is alive too. Resolves with false if the signal aborts before the answer is complete. Never
 * rejects.
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
          // the signal may have aborted while connecting
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
