import type { Attributes } from '@opentelemetry/api'
import type { RequestRecord } from '../access-log.ts'
import type { ReportedUsage } from '../reported-usage.ts'

/** A request that has ended, with what its line in the log leaves out. */
export interface TracedRequest extends RequestRecord {
  /** the kind of engine, as in `vllm` */
  readonly provider: string | undefined
  readonly model: string | undefined
  readonly usage: Pick<ReportedUsage, 'completionTokens'> | undefined
}

/** Longer names, which clients choose, are cut off here. */
const longestName = 200

/** Returns a route's operation in OpenTelemetry's conventions for generative AI; undefined if it is passed through. */
export function operationOf(route: string): string | undefined {
  if (route === 'completions' || route === 'generate') return 'text_completion'
  return route === 'pass_through' ? undefined : 'chat'
}

/** Whether the engine gave no complete answer. Its error answers are complete: their status shows the error. */
export function isCutShort({ outcome }: TracedRequest): boolean {
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
