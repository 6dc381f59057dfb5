import type { Context, RequestId } from '#index/context-block.ts'
import type { TraceRequest } from './trace/trace.ts'

/** A request as policies see it: what it is about, and nothing of what comes after it. */
export interface ReplayRequest {
  /** its place among the arrivals */
  readonly number: number
  readonly tenant: string
  /** only what stands behind the same text is held in one order: its tenant, and what stands in front of its blocks */
  readonly scope: string
  readonly context: Context
  /** tokens of its blocks */
  readonly sizes: readonly number[]
  /** its order may not be changed */
  readonly fixed: boolean
  readonly trace: TraceRequest
}

/** The id under which an index knows the request of a number. */
export function toRequestId(number: number): RequestId {
  return String(number) as RequestId
}

/** The requests of a trace, of each only its best `topK` blocks. */
export function toReplayRequests(requests: readonly TraceRequest[], topK?: number): ReplayRequest[] {
  return requests.map((request, number) => {
    const blocks = request.blocks.slice(0, topK)
    return {
      number,
      tenant: request.tenant,
      scope: JSON.stringify([request.tenant, ...(request.around?.front ?? []).map(({ key }) => key)]),
      context: blocks.map(({ key }) => key),
      sizes: blocks.map(({ tokens }) => tokens),
      fixed: request.fixed,
      trace: topK === undefined ? request : { ...request, blocks },
    }
  })
}
