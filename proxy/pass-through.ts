import type { EngineClient } from '#engine-adapters/engine-client.ts'
import { type ForwardOutcome, forward, requestHeaders } from './forward.ts'
import type { Exchange } from './pipeline.ts'

const silent = { onHead: () => ({}), onChunk: () => {} }

/** Sends a request on as it comes in, body unread, and its answer back. */
export function passThrough(
  engine: EngineClient,
  { incoming, outgoing, clientLeft }: Exchange,
): Promise<ForwardOutcome> {
  const hasBody =
    incoming.headers['content-length'] !== undefined || incoming.headers['transfer-encoding'] !== undefined
  const request = {
    path: incoming.url!,
    method: incoming.method!,
    headers: requestHeaders(incoming.rawHeaders, {}),
    body: hasBody ? incoming : null,
  }
  return forward(engine, request, outgoing, clientLeft, silent)
}
