import type { Context, RequestId } from '#index/context-block.ts'
import type { TraceRequest } from './trace/trace.ts'
import { TraceBlock } from './trace/trace-block.ts'

/** A request as policies see it, without knowledge of later requests. */
export interface ReplayRequest {
  /** index in the order of arrival */
  readonly number: number
  readonly tenant: string
  /** identity of its tenant and the text before its blocks: only requests of equal scope can share an order */
  readonly scope: string
  readonly context: Context
  /** sizes of its blocks, in tokens */
  readonly sizes: readonly number[]
  /** whether its order must not be changed */
  readonly fixed: boolean
  readonly trace: TraceRequest
}

/** Returns the id by which an index knows request `number`. */
export function toRequestId(number: number): RequestId {
  return String(number) as RequestId
}

/** Converts the requests of a trace, each with only its best `topK` blocks. */
export function toReplayRequests(requests: readonly TraceRequest[], topK?: number): ReplayRequest[] {
  return requests.map((request, number) => {
    const blocks = request.blocks.slice(0, topK)
    const around = withTemplate(request)
    return {
      number,
      tenant: request.tenant,
      scope: JSON.stringify([request.tenant, ...(around?.front ?? []).map(({ key }) => key)]),
      context: blocks.map(({ key }) => key),
      sizes: blocks.map(({ tokens }) => tokens),
      fixed: request.fixed || request.reorder === false,
      trace: { ...request, blocks, around },
    }
  })
}

const chatTemplate = new TraceBlock('the chat template of the model', { tokens: 1 })
/** The APIs whose prompts get no template. */
const plainRoutes = new Set(['/v1/completions', '/generate'])

/** Returns the pieces around the blocks with what the engine puts before a chat: no other prompt begins like it. */
function withTemplate({ around, route }: TraceRequest): TraceRequest['around'] {
  if (!around || route === undefined || plainRoutes.has(route)) return around
  return { ...around, front: [chatTemplate, ...around.front] }
}
