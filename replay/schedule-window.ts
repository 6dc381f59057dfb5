import { scheduleContexts } from '#scheduler/schedule-contexts.ts'
import type { OnlinePolicy } from './policies/online-policy.ts'
import type { SentRequest } from './replay-run.ts'

/** The order in which requests that wait together run: grouped by search path (Algorithm 5), never across tenants. */
export function scheduleWindow(waiting: readonly SentRequest[], policy: OnlinePolicy): readonly SentRequest[] {
  if (waiting.length < 2) return waiting
  const paths = new Map(waiting.map((sent) => [sent, toGroupedPath(sent, policy)]))
  return scheduleContexts(waiting, (sent) => paths.get(sent)!)
}

function toGroupedPath({ request }: SentRequest, policy: OnlinePolicy): (string | number)[] {
  const [first, ...rest] = policy.pathOf(request)
  return first === undefined ? [] : [`${request.tenant}/${first}`, ...rest]
}
