import type { ReuseWish } from '#engine-adapters/any-position-reuse.ts'

const wishMembers = ['reuse', 'spans']

/**
 * Reads the wish of a request with `promptTokens` tokens as our vLLM plugin does (`reuse/wishes.py`): a wish that is
 * not valid means no reuse. Returns undefined if the request states no wish.
 */
export function readWish(
  params: { readonly reprise?: unknown } | null | undefined,
  promptTokens: number,
): ReuseWish | undefined {
  const given = params?.reprise ?? undefined
  if (given === undefined) return undefined
  if (typeof given !== 'object' || Array.isArray(given)) return 'off'
  const { reuse, spans = [] } = given as { readonly reuse?: unknown; readonly spans?: unknown }
  if (!areSpans(spans, promptTokens) || Object.keys(given).some((name) => !wishMembers.includes(name))) return 'off'
  if (reuse === undefined) return undefined
  return typeof reuse === 'number' && reuse >= 0 && reuse <= 1 ? reuse : 'off'
}

/** Checks the spans of documents; they are not needed to find what is reused here. */
function areSpans(spans: unknown, promptTokens: number): boolean {
  const isSpan = (span: unknown): boolean =>
    Array.isArray(span) && span.length === 2 && span.every((at) => Number.isInteger(at) && at >= 0)
  return Array.isArray(spans) && spans.length <= promptTokens && spans.every(isSpan)
}
