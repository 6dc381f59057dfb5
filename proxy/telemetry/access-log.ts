import type { Logger } from 'pino'
import type { PageUsage } from '#engine-adapters/page-usage.ts'
import { tenantName } from '../access/tenant.ts'
import type { UnreadRequest } from '../http/answer-unread.ts'
import type { Outcome, SkippedReason } from '../reasons.ts'

/** What is known about a request when it has ended. Times are in milliseconds; undefined for what never happened. */
export interface RequestRecord {
  readonly requestId: string | undefined
  readonly route: string
  /** of a passed-through request; the path without its query */
  readonly method?: string | undefined
  readonly path?: string | undefined
  /** the client's address */
  readonly client?: string | undefined
  readonly tenant: string | undefined
  /** the name of the API key */
  readonly key?: string | undefined
  readonly replica: string | undefined
  /** of the answer's head; undefined if there was none */
  readonly status: number | undefined
  readonly outcome: Outcome
  /** why no engine answered, as in `connect ECONNREFUSED 10.0.0.1:8000` */
  readonly reason?: string | undefined
  readonly model: string | undefined
  /** the kind of engine, as in `vllm` */
  readonly provider: string | undefined
  readonly knownChunks: number
  readonly blocks: number
  readonly moved: number
  readonly deduplicated: number
  readonly skipped: SkippedReason | undefined
  readonly predictedCachedTokens: number | undefined
  /** tokens cached had nothing ever been rewritten; had all been (shadow mode); tokens sent before by the tenant */
  readonly baselineCachedTokens?: number | undefined
  readonly shadowCachedTokens?: number | undefined
  readonly seenTokens?: number | undefined
  /** exact prefix hits */
  readonly cachedTokens: number | undefined
  /** of an engine that reuses KV at any position: tokens reused unchanged, tokens recomputed, and all others */
  readonly reusedTokens: number | undefined
  readonly recomputedTokens: number | undefined
  readonly coldTokens: number | undefined
  /** of an engine that was asked to read fewer pages while decoding, and reported what it read */
  readonly pages?: PageUsage | undefined
  readonly promptTokens: number | undefined
  readonly completionTokens: number | undefined
  readonly queueMilliseconds: number | undefined
  readonly overheadMilliseconds: number | undefined
  readonly firstByteMilliseconds: number | undefined
  readonly milliseconds: number
}

/** Longer prompts are cut off here, if prompts are logged at all. */
const longestPrompt = 16 * 1024

/** Logs one line for a request that has ended, without any of its text. */
export function logRequest(log: Logger, record: RequestRecord): void {
  if (!log.isLevelEnabled('info')) return
  log.info(
    {
      request_id: record.requestId,
      route: record.route,
      method: record.method,
      path: record.path,
      client: record.client,
      tenant: record.tenant === undefined ? undefined : tenantName(record.tenant),
      key: record.key,
      replica: record.replica,
      status: record.status,
      outcome: record.outcome,
      reason: record.reason,
      known_chunks: record.knownChunks,
      blocks: record.blocks,
      moved: record.moved,
      deduplicated: record.deduplicated,
      skipped: record.skipped,
      predicted_cached_tokens: record.predictedCachedTokens,
      cached_tokens: record.cachedTokens,
      baseline_cached_tokens: record.baselineCachedTokens,
      shadow_cached_tokens: record.shadowCachedTokens,
      seen_tokens: record.seenTokens,
      reused_tokens: record.reusedTokens,
      recomputed_tokens: record.recomputedTokens,
      cold_tokens: record.coldTokens,
      listed_pages: record.pages?.listed,
      all_pages: record.pages?.all,
      page_choices: record.pages?.choices,
      page_backtracks: record.pages?.backtracks,
      prompt_tokens: record.promptTokens,
      queue_ms: rounded(record.queueMilliseconds),
      overhead_ms: rounded(record.overheadMilliseconds),
      ttft_ms: rounded(record.firstByteMilliseconds),
      duration_ms: rounded(record.milliseconds),
    },
    'request',
  )
}

/** Logs one line for input that was refused before it became a request: it has no route, id or tenant. */
export function logUnread(log: Logger, { client, status, reason }: UnreadRequest): void {
  log.info({ client, status, outcome: 'unreadable_request', reason }, 'request')
}

/** Logs a request's body as received, up to 16 KiB. Only for operators who enabled prompts in their logs. */
export function logPrompt(log: Logger, requestId: string, body: Buffer): void {
  if (!log.isLevelEnabled('info')) return
  const prompt = body.toString('utf8', 0, longestPrompt)
  log.info({ request_id: requestId, bytes: body.length, truncated: body.length > longestPrompt, prompt }, 'prompt')
}

function rounded(milliseconds: number | undefined): number | undefined {
  return milliseconds === undefined ? undefined : Math.round(milliseconds * 100) / 100
}
