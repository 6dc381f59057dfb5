import type { RequestId } from '#index/context-block.ts'

/** `ID` for the first prompt of a request, then `ID-1`, `ID-2` …, as vLLM 0.32 reports them (`cmpl-ID-0-…`). */
export function numberPrompts(request: RequestId, count: number): RequestId[] {
  return Array.from({ length: count }, (_, i) => (i === 0 ? request : `${request}-${i}`) as RequestId)
}
