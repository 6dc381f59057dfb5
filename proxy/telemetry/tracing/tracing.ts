import type { IncomingHttpHeaders } from 'node:http'
import type { RequestRecord } from '../access-log.ts'
import type { ReportedUsage } from '../reported-usage.ts'

/** A request that has ended, with what its line in the log leaves out. */
export interface TracedRequest extends RequestRecord {
  /** the kind of engine, as in `vllm` */
  readonly provider: string | undefined
  readonly model: string | undefined
  readonly usage: Pick<ReportedUsage, 'completionTokens'> | undefined
}

/** Traces requests for an OpenTelemetry collector. */
export interface Tracing {
  /** Starts the span of a request, which continues the trace named by its `traceparent`. */
  begin(headers: IncomingHttpHeaders, route: string): RequestSpan
  /** Sends the remaining spans, within two seconds. */
  close(): Promise<void>
}

/** The span of one request. Its times are those of `performance.now()`. */
export interface RequestSpan {
  /** for the engine, replacing the client's: this span is the parent of the engine's */
  readonly headers: Readonly<Record<string, string>>
  /** A stage of the request has ended. */
  stage(name: 'parse' | 'index' | 'queue' | 'engine', start: number, end: number): void
  /** The request has ended. */
  end(request: TracedRequest, end: number): void
}
