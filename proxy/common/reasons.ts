import { type ErrorCode, statusOf } from './errors.ts'

/** Why a request was not rewritten: `x-reprise-skipped`, `skipped` in the log, and a label of `skipped_total`. */
export const skippedReasons = [
  'ambiguous_turn',
  'differs_before',
  'encoded_body',
  'internal_error',
  'measured',
  'media',
  'mode_off',
  'no_blocks',
  'not_permitted',
  'nothing_to_gain',
  'refused_rewritten',
  'reorder_off',
  'reuse_is_enough',
  'shadow',
  'spoken_of',
  'token_ids',
  'too_large_to_rewrite',
  'too_many_blocks',
  'unexpected_shape',
  'unknown_turn',
  'unsure_borders',
] as const

export type SkippedReason = (typeof skippedReasons)[number]

/** Why requests are forwarded as received, and other faults that no client sees: a label of `fail_open_total`. */
export const failOpenReasons = [
  'answer_rewriter',
  'answer_too_large',
  'chunks',
  'encoded_answer',
  'hygiene',
  'internal_error',
  'redis_late',
  'redis_limits',
  'redis_value',
  'redis_write',
  'refused_rewritten',
  'templates',
  'too_large_to_rewrite',
  'unknown_turn',
  'ambiguous_turn',
] as const

export type FailOpenReason = (typeof failOpenReasons)[number]

/** A fault of Redis, or of what it holds. */
export type RedisFault = Extract<FailOpenReason, `redis_${string}`>

/** How an engine's answer was passed on. */
const forwardOutcomes = ['finished', 'client_left', 'engine_broke_off'] as const

export type ForwardOutcome = (typeof forwardOutcomes)[number]

/** How else a request ended that we did not answer with an error of our own. */
const otherOutcomes = ['cut_by_drain', 'engine_error', 'unreadable_request'] as const

export type Outcome = ForwardOutcome | (typeof otherOutcomes)[number] | ErrorCode

/** How a request ended: `outcome` in the log, and a label of `requests_total`. */
export const outcomes: readonly Outcome[] = [
  ...forwardOutcomes,
  ...otherOutcomes,
  ...(Object.keys(statusOf) as ErrorCode[]),
]

/** What became of a mark that asks to pin a prompt. `used`: it was pinned before. The others say why it is not pinned. */
export const pinOutcomes = [
  'pinned',
  'used',
  'too_short',
  'mark_too_early',
  'tenant_limit',
  'limit',
  'unknown',
] as const
export type PinOutcome = (typeof pinOutcomes)[number]

/** How a request of ours for a pin ended. `interrupted`: a client needed the engine, the pin's time was up, or we stop. */
export const keepOutcomes = ['held', 'computed', 'interrupted', 'failed'] as const
export type KeepOutcome = (typeof keepOutcomes)[number]
