import type { RequestId } from '#index/context-block.ts'

/** What an engine calls the prompts of one request: the first by its id, those behind it `ID-1`, `ID-2` …. */
export function promptIds(request: RequestId, prompts: number): RequestId[] {
  return Array.from({ length: prompts }, (_, i) => (i === 0 ? request : `${request}-${i}`) as RequestId)
}
