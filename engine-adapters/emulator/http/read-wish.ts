import type { ReuseWish } from '../../any-position-reuse.ts'

/** Where a request of vLLM's says what it wishes of its connector. */
export interface TransferParams {
  readonly reprise?: unknown
}

const members = ['reuse', 'spans']

/**
 * The wish of a request of so many tokens, as our plugin of vLLM reads it (`reuse/wishes.py`): what cannot be understood
 * is served without reuse. Undefined: it does not say.
 */
export function readWish(params: TransferParams | null | undefined, promptTokens: number): ReuseWish | undefined {
  const given = params?.reprise ?? undefined
  if (given === undefined) return undefined
  if (typeof given !== 'object' || Array.isArray(given)) return 'off'
  const { reuse, spans = [] } = given as { readonly reuse?: unknown; readonly spans?: unknown }
  if (!areSpans(spans, promptTokens) || Object.keys(given).some((name) => !members.includes(name))) return 'off'
  if (reuse === undefined) return undefined
  return typeof reuse === 'number' && reuse >= 0 && reuse <= 1 ? reuse : 'off'
}

/** Where documents begin and end; the emulator finds what it reuses without. */
function areSpans(spans: unknown, promptTokens: number): boolean {
  return Array.isArray(spans) && spans.length <= promptTokens && spans.every(isSpan)
}

function isSpan(span: unknown): boolean {
  return Array.isArray(span) && span.length === 2 && span.every((at) => Number.isInteger(at) && at >= 0)
}
