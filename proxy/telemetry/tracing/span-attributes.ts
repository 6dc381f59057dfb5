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
    'reprise.request_id': record.request_id,
    'reprise.tenant': record.tenant,
    'reprise.key': record.key,
    'reprise.replica': record.replica,
    'reprise.outcome': record.outcome,
    'reprise.blocks': record.blocks,
    'reprise.moved': record.moved,
    'reprise.deduplicated': record.deduplicated,
    'reprise.skipped': record.skipped,
    'reprise.predicted_cached_tokens': record.predicted_cached_tokens,
    'reprise.reused_tokens': record.reused_tokens,
    'reprise.recomputed_tokens': record.recomputed_tokens,
    'reprise.cold_tokens': record.cold_tokens,
    'reprise.listed_pages': record.listed_pages,
    'reprise.all_pages': record.all_pages,
    'reprise.page_choices': record.page_choices,
    'reprise.page_backtracks': record.page_backtracks,
    'reprise.time_to_first_byte_ms': record.ttft_ms,
  }
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined))
}
