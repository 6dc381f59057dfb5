import type { Logger } from 'pino'
import type { Outcome, SkippedReason } from '../common/reasons.ts'
import type { UnreadRequest } from '../http/answer-unread.ts'

/** What is known about a request when it has ended, as its line in the log says it; undefined for what never happened. */
export interface RequestRecord {
  readonly request_id: string | undefined
  readonly route: string
  /** of a passed-through request; the path without its query */
  readonly method?: string | undefined
  readonly path?: string | undefined
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
  readonly known_chunks: number
  readonly blocks: number
  readonly moved: number
  readonly deduplicated: number
  readonly skipped: SkippedReason | undefined
  readonly predicted_cached_tokens: number | undefined
  /** exact prefix hits */
  readonly cached_tokens: number | undefined
  /** tokens cached had nothing ever been rewritten; had all been (shadow mode); tokens sent before by the tenant */
  readonly baseline_cached_tokens?: number | undefined
  readonly shadow_cached_tokens?: number | undefined
  readonly seen_tokens?: number | undefined
  /** of an engine that reuses KV at any position: tokens reused unchanged, tokens recomputed, and all others */
  readonly reused_tokens: number | undefined
  readonly recomputed_tokens: number | undefined
  readonly cold_tokens: number | undefined
  /** of an engine that was asked to read fewer pages while decoding, and reported what it read */
  readonly listed_pages?: number | undefined
  readonly all_pages?: number | undefined
  readonly page_choices?: number | undefined
  readonly page_backtracks?: number | undefined
  readonly prompt_tokens: number | undefined
  readonly queue_ms: number | undefined
  readonly overhead_ms: number | undefined
  readonly ttft_ms: number | undefined
  readonly duration_ms: number
}

/** Longer prompts are cut off here, if prompts are logged at all. */
const longestPrompt = 16 * 1024

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
