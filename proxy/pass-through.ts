import { PassThrough } from 'node:stream'
import { withEngineCredentials } from './access/engine-credentials.ts'
import { chargeCall } from './charge-call.ts'
import { endBehindBody } from './end-behind-body.ts'
import { ProxyError } from './errors.ts'
import { type ForwardOutcome, forward, UnreachableError } from './forward.ts'
import { requestHeaders } from './forwarded-headers.ts'
import type { Exchange, Pipeline } from './pipeline.ts'
import { upgradeOf } from './upgradable-request.ts'

/** Sends a request on as it comes in, body unread, to the replica with the fewest requests, and its answer back. */
export async function passThrough(pipeline: Pipeline, exchange: Exchange): Promise<ForwardOutcome> {
  const { incoming, outgoing, clientLeft, telemetry } = exchange
  const caller = pipeline.tenancy().identify(incoming)
  chargeCall(pipeline, { caller, body: Buffer.alloc(0) }, { promptTokens: 0 })
  const [replica] = [...pipeline.replicas.candidates()].sort((a, b) => a.requests - b.requests)
  if (!replica) throw new ProxyError('draining', 'All replicas are draining: try again later.')
  const upgrade = upgradeOf(incoming)
  const hasBody =
    upgrade === null &&
    (incoming.headers['content-length'] !== undefined || incoming.headers['transfer-encoding'] !== undefined)
  const rawHeaders = withEngineCredentials(incoming.rawHeaders, {
    keepsClientKey: pipeline.settings().keepsClientKey,
    apiKey: pipeline.credentials.get(replica.id)?.apiKey,
  })
  const request = {
    path: incoming.url!,
    method: incoming.method!,
    headers: requestHeaders(rawHeaders, telemetry.headers),
    // what is sent is ended when the engine breaks off, and with it would be the client's connection
    body: hasBody ? incoming.pipe(new PassThrough()) : null,
    upgrade,
  }
  const observer = {
    onHead: (status: number) => replica.breaker.answered(status),
    describe: () => ({}),
    onChunk: () => {},
  }
  telemetry.admitted(replica.id, replica.adapter.kind)
  replica.breaker.begin()
  try {
    // an engine may answer, and refuse, what has not all come yet
    const options = { end: (rest: Buffer | undefined) => void endBehindBody(incoming, outgoing, rest) }
    return await forward(replica.engine, request, outgoing, clientLeft, observer, options)
  } catch (error) {
    if (error instanceof UnreachableError) replica.breaker.unreachable()
    throw error
  }
}
