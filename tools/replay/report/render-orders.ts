import type { ReplayRun } from '../run/replay-run.ts'

/** Yields a line for each request of a run, in execution order, with its block ids in the order sent. */
export function* renderOrders({ policy, sent }: ReplayRun): Generator<string> {
  for (const { request, order } of sent) {
    const blocks = order.map((place) => request.trace.blocks[place]!.id)
    yield `${JSON.stringify({ policy, query_id: request.trace.queryId, blocks })}\n`
  }
}
