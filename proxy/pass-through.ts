import { PassThrough } from 'node:stream'
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
    // what is sent is ended when the engine breaks off, and with it would be the client's connection
    body: hasBody ? incoming.pipe(new PassThrough()) : null,
  }
  return forward(engine, request, outgoing, clientLeft, silent)
}
