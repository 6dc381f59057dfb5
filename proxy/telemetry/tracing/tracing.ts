import type { IncomingHttpHeaders } from 'node:http'
import type { RequestRecord } from '../access-log.ts'

/** Traces of requests, to an OpenTelemetry collector. */
export interface Tracing {
  /** A request came in; its span continues the trace that its `traceparent` names. */
  begin(headers: IncomingHttpHeaders, route: string): RequestSpan
  /** Sends what is left, within two seconds. */
  close(): Promise<void>
}

/** The span of one request. Its times are those of `performance.now()`. */
export interface RequestSpan {
  /** for the engine, in place of the client's: this span is the parent of the engine's */
  readonly headers: Readonly<Record<string, string>>
  /** A stage of the request has ended. */
  stage(name: 'parse' | 'index' | 'queue' | 'engine', start: number, end: number): void
  /** The request has ended. */
  end(record: RequestRecord, end: number): void
}
