import { once } from 'node:events'
import type { ServerResponse } from 'node:http'

export function startSse(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' })
}

/** Writes one message, at the client's pace; rejects when `signal` aborts. */
export async function writeSse(response: ServerResponse, data: unknown, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  const taken = response.write(`data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`)
  if (!taken) await once(response, 'drain', { signal })
}

export function endSse(response: ServerResponse): void {
  response.end('data: [DONE]\n\n')
}
