import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Leaving } from '../http/bounds/client-left.ts'
import type { RequestTelemetry } from '../telemetry/request-telemetry.ts'

/**
 * The two ends of a client's request. `clientLeft` aborts if the client leaves before its answer is complete, and with
 * the ProxyError to answer if its body is given up as too slow.
 */
export interface Exchange {
  readonly incoming: IncomingMessage
  readonly outgoing: ServerResponse
  readonly clientLeft: Leaving
  readonly telemetry: RequestTelemetry
}
