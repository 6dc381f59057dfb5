import type { IncomingHttpHeaders } from 'node:http'
import {
  type Attributes,
  type Context,
  defaultTextMapGetter,
  defaultTextMapSetter,
  diag,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import { setGlobalErrorHandler, W3CTraceContextPropagator } from '@opentelemetry/core'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources'
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { ATTR_SERVICE_NAME, ATTR_SERVICE_VERSION } from '@opentelemetry/semantic-conventions'
import { within } from '../../common/within.ts'
import type { RequestRecord } from '../access-log.ts'
import type { ReportedUsage } from '../reported-usage.ts'

const propagator = new W3CTraceContextPropagator()
/** The longest time that an unresponsive collector may delay the end of the process. */
const closeMilliseconds = 2_000

/**
 * Traces requests for an OpenTelemetry collector: sends it spans in batches over OTLP/HTTP. OTEL_* variables set
 * endpoint, headers, sampling and names.
 */
export class Tracing {
  readonly #provider: BasicTracerProvider
  readonly #tracer: Tracer

  constructor(version: string, warn: (message: string) => void) {
    // it speaks of variables that cannot be used, and of spans that were dropped
    const silent = (): void => {}
    const logger = { error: warn, warn, info: silent, debug: silent, verbose: silent }
    diag.setLogger(logger, { suppressOverrideMessage: true })
    setGlobalErrorHandler((error) =>
      warn(`Traces were not sent: ${String((error as { message?: unknown } | undefined)?.message ?? error)}`),
    )
    const standard = resourceFromAttributes({ [ATTR_SERVICE_NAME]: 'reprise', [ATTR_SERVICE_VERSION]: version })
    this.#provider = new BasicTracerProvider({
      resource: standard.merge(detectResources({ detectors: [envDetector] })),
      spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
    })
    this.#tracer = this.#provider.getTracer('reprise', version)
  }

  /** Starts the span of a request, which continues the trace named by its `traceparent`. */
  begin(headers: IncomingHttpHeaders, route: string): RequestSpan {
    return new RequestSpan(this.#tracer, headers, route)
  }

  /** Sends the remaining spans, within two seconds. */
  close(): Promise<void> {
    const sent = this.#provider.shutdown().catch(() => {})
    return within(closeMilliseconds, sent)
  }
}

/** The span of one request. Its times are those of `performance.now()`. */
export class RequestSpan {
  /** for the engine, replacing the client's: this span is the parent of the engine's */
  readonly headers: Readonly<Record<string, string>>
  readonly #tracer: Tracer
  readonly #span: Span
  readonly #context: Context
  /** all spans of one request use one clock, even if the wall clock jumps meanwhile */
  readonly #epoch = Date.now() - performance.now()

  constructor(tracer: Tracer, received: IncomingHttpHeaders, route: string) {
    const parent = propagator.extract(ROOT_CONTEXT, received, defaultTextMapGetter)
    const attributes = { 'gen_ai.operation.name': operationOf(route), 'reprise.route': route }
    this.#tracer = tracer
    this.#span = tracer.startSpan(route, { kind: SpanKind.SERVER, attributes, startTime: Date.now() }, parent)
    this.#context = trace.setSpan(parent, this.#span)
    const headers: Record<string, string> = {}
    propagator.inject(this.#context, headers, defaultTextMapSetter)
    // the tracestate of a trace that was not continued must not be sent with another parent (W3C Trace Context §3.3)
    if (received.tracestate !== undefined) headers.tracestate ??= ''
    this.headers = headers
  }

  /** A stage of the request has ended. */
  stage(name: 'parse' | 'index' | 'queue' | 'engine', start: number, end: number): void {
    if (!this.#span.isRecording()) return
    const kind = name === 'engine' ? SpanKind.CLIENT : SpanKind.INTERNAL
    this.#tracer.startSpan(name, { kind, startTime: this.#epoch + start }, this.#context).end(this.#epoch + end)
  }

  /** The request has ended. */
  end(record: TracedRequest, end: number): void {
    const span = this.#span
    if (span.isRecording()) {
      if (record.model !== undefined) span.updateName(`${operationOf(record.route)} ${record.model}`)
      span.setAttributes(spanAttributes(record))
      if (isCutShort(record) || (record.status ?? 0) >= 500) span.setStatus({ code: SpanStatusCode.ERROR })
    }
    span.end(this.#epoch + end)
  }
}

/** A request that has ended, with what its line in the log leaves out. */
interface TracedRequest extends RequestRecord {
  /** the kind of engine, as in `vllm` */
  readonly provider: string | undefined
  readonly model: string | undefined
  readonly usage: Pick<ReportedUsage, 'completionTokens'> | undefined
}

/** Longer names, which clients choose, are cut off here. */
const longestName = 200

/** Returns a route's operation in OpenTelemetry's conventions for generative AI; undefined if it is passed through. */
function operationOf(route: string): string | undefined {
  if (route === 'completions' || route === 'generate') return 'text_completion'
  return route === 'pass_through' ? undefined : 'chat'
}

/** Whether the engine gave no complete answer. Its error answers are complete: their status shows the error. */
function isCutShort({ outcome }: TracedRequest): boolean {
  return outcome !== 'finished' && outcome !== 'engine_error'
}

/** What is called as in the log. */
const own = [
  ...(['request_id', 'tenant', 'key', 'replica', 'outcome', 'blocks', 'moved', 'deduplicated', 'skipped'] as const),
  ...(['predicted_cached_tokens', 'reused_tokens', 'recomputed_tokens', 'cold_tokens'] as const),
  ...(['listed_pages', 'all_pages', 'page_choices', 'page_backtracks'] as const),
]

/** Returns a request's attributes by OpenTelemetry's conventions for generative AI and HTTP, and ours; no text. */
export function spanAttributes(record: TracedRequest): Attributes {
  const failed = isCutShort(record)
  const attributes: Record<string, string | number | undefined> = {
    'http.request.method': record.route === 'pass_through' ? undefined : 'POST',
    'http.response.status_code': record.status,
    'error.type': failed ? record.outcome : (record.status ?? 0) >= 400 ? String(record.status) : undefined,
    'gen_ai.operation.name': operationOf(record.route),
    'gen_ai.provider.name': record.provider,
    'gen_ai.request.model': record.model?.slice(0, longestName),
    'gen_ai.usage.input_tokens': record.prompt_tokens,
    'gen_ai.usage.output_tokens': record.usage?.completionTokens,
    'gen_ai.usage.cache_read.input_tokens': record.cached_tokens,
    ...Object.fromEntries(own.map((name) => [`reprise.${name}`, record[name]])),
    'reprise.time_to_first_byte_ms': record.ttft_ms,
  }
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined))
}
