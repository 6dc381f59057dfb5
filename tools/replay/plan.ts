import { offlinePlans } from './policies/offline-plans.ts'
import type { PlannedRequest } from './policies/policy.ts'
import { toReplayRequests } from './replay-request.ts'
import { readTrace } from './trace/read-trace.ts'

/** Plans a batch of contexts offline. Returns a line of JSON for each request, in execution order. */
export async function plan(path: string, tell: (note: string) => void): Promise<string[]> {
  const { requests, skipped } = await readTrace(path, { unknownSizes: true })
  if (skipped > 0) tell(`${skipped} requests are left out: they are marked "has_text": false`)
  return offlinePlans.reprise(toReplayRequests(requests)).map(renderPlanned)
}

function renderPlanned({ request, order, group, searchPath }: PlannedRequest): string {
  const rank = request.trace.blocks.map(({ id }) => id)
  const blocks = order.map((place) => rank[place]!)
  return `${JSON.stringify({ query_id: request.trace.queryId, blocks, rank, group, search_path: searchPath })}\n`
}
