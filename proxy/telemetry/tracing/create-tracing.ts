import type { Tracing } from './tracing.ts'

/**
 * Creates tracing from the standard OTEL_* variables. Returns undefined if they name no endpoint, are unusable or
 * switch it off. The OpenTelemetry packages are loaded only if tracing is on. `warn` receives configuration problems
 * and failures to send spans.
 */
export async function createTracing(
  env: NodeJS.ProcessEnv,
  version: string,
  warn: (message: string) => void,
): Promise<Tracing | undefined> {
  const endpoint = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT || env.OTEL_EXPORTER_OTLP_ENDPOINT
  const exporter = env.OTEL_TRACES_EXPORTER?.trim() || 'otlp'
  if (!endpoint || env.OTEL_SDK_DISABLED?.trim().toLowerCase() === 'true' || exporter === 'none') return undefined
  if (!/^https?:/i.test(endpoint) || !URL.canParse(endpoint)) {
    warn(`Tracing is off: '${endpoint}' is not a URL; set OTEL_EXPORTER_OTLP_ENDPOINT to http://HOST:4318.`)
    return undefined
  }
  if (exporter !== 'otlp') {
    warn(`Tracing is off: OTEL_TRACES_EXPORTER is '${exporter}', but reprise has only 'otlp'.`)
    return undefined
  }
  if (env.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL === 'grpc' || env.OTEL_EXPORTER_OTLP_PROTOCOL === 'grpc')
    warn('reprise sends traces over HTTP, not gRPC: the endpoint has to be the HTTP port of the collector, often 4318.')
  const { Tracing } = await import('./tracing.ts')
  return new Tracing(version, warn)
}
