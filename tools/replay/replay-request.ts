import type { BlockId, Context, RequestId } from '#index/context-block.ts'
import { TraceBlock, type TraceList, type TraceRequest } from './trace/trace.ts'

/** A request as policies see it, without knowledge of later requests. */
export interface ReplayRequest {
  /** index in the order of arrival */
  readonly number: number
  readonly tenant: string
  /** identity of its tenant and the text before its blocks: only requests of equal scope can share an order */
  readonly scope: string
  readonly context: Context
  /** its blocks as they are sent in another order, with pointers to what they repeat */
  readonly shortened: Context
  /** sizes of its blocks: in characters, by which the proxy orders, if the trace has them; otherwise in tokens */
  readonly sizes: readonly number[]
  /** places of blocks that repeat an earlier one, which the proxy sends last */
  readonly repeats: readonly number[]
  /** whether its order must not be changed */
  readonly fixed: boolean
  readonly trace: TraceRequest
}

/** Returns the id by which an index knows request `number`. */
export function toRequestId(number: number): RequestId {
  return String(number) as RequestId
}

/** Returns whether an order leaves all blocks where they were. */
export function isAsReceived(order: readonly number[]): boolean {
  return order.every((from, place) => from === place)
}

export function toReplayRequests(requests: readonly TraceRequest[]): ReplayRequest[] {
  return requests.map((request, number) => {
    const { blocks, list } = request
    const around = withTemplate(request)
    const context = list ? list.blocks.map(identify) : blocks.map(({ key }) => key)
    return {
      number,
      tenant: request.tenant,
      scope: JSON.stringify([request.tenant, ...(around?.front ?? []).map(({ key }) => key)]),
      context,
      shortened: context.map((id, place) => (list?.shortened[place] ? identify(list.shortened[place]) : id)),
      sizes: blocks.map((block, place) => (list ? sizeOf(list, place) : block.tokens)),
      repeats: list ? findRepeats(blocks) : [],
      fixed: request.reorder === false || list?.stays === true,
      trace: { ...request, around },
    }
  })
}

/** Blocks are the same if the engine sees the same, except for the label of the place. */
function identify(pieces: TraceList['blocks'][number]): BlockId {
  return JSON.stringify(pieces.map((piece) => piece?.key ?? null)) as BlockId
}

function sizeOf({ blocks, labels }: TraceList, place: number): number {
  const pieces = blocks[place]!.map((piece) => piece ?? labels[place]!)
  return pieces.reduce((sum, { characters, tokens }) => sum + (characters ?? tokens), 0)
}

function findRepeats(blocks: readonly TraceBlock[]): number[] {
  const seen = new Set<string>()
  return blocks.flatMap(({ key }, place) => {
    if (seen.has(key)) return [place]
    seen.add(key)
    return []
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
