import { once } from 'node:events'
import type { ServerResponse } from 'node:http'

export function startSse(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' })
}

/** Writes one message, at the client's pace; rejects when `signal` aborts. */
export function writeSse(response: ServerResponse, data: unknown, signal: AbortSignal): Promise<void> {
  return write(response, `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`, signal)
}

/** Writes one message with the name of its event. */
export function writeSseEvent(
  response: ServerResponse,
  event: string,
  data: unknown,
  signal: AbortSignal,
): Promise<void> {
  return write(response, `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`, signal)
}

/** Ends a stream as OpenAI does; streams with named events just end. */
export function endSse(response: ServerResponse): void {
  response.end('data: [DONE]\n\n')
}

async function write(response: ServerResponse, message: string, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  if (!response.write(message)) await once(response, 'drain', { signal })
}
