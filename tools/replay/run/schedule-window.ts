import { scheduleContexts } from '#scheduler/schedule-contexts.ts'
import { scheduleDepthFirst } from '#scheduler/schedule-depth-first.ts'
import type { OnlinePolicy, PlannedRequest } from '../policies/policy.ts'
import type { SentRequest } from './replay-run.ts'

/** Ways to schedule requests by their search paths: group by group (Algorithm 5), or depth first. */
export const schedules = ['groups', 'depth-first'] as const
export type ScheduleName = (typeof schedules)[number]

const schedulers = { groups: scheduleContexts, 'depth-first': scheduleDepthFirst } as const

/** Returns the default schedule for a window: as in the paper for its policy, otherwise as in the product. */
export function defaultSchedule(name: string): ScheduleName {
  return name === 'paper' ? 'groups' : 'depth-first'
}

/** Orders requests that wait together by search path, without grouping across tenants. */
export function scheduleWindow(
  waiting: readonly SentRequest[],
  policy: OnlinePolicy,
  schedule: ScheduleName,
): readonly SentRequest[] {
  if (waiting.length < 2) return waiting
  const paths = new Map(waiting.map((sent) => [sent, withTenant(sent.request.tenant, policy.pathOf(sent.request))]))
  return schedulers[schedule](waiting, (sent) => paths.get(sent)!)
}

/** Changes the execution order of a planned batch; the orders of blocks stay. */
export function rescheduleBatch(planned: readonly PlannedRequest[], schedule: ScheduleName): PlannedRequest[] {
  const paths = new Map(planned.map((one) => [one, withTenant(one.request.tenant, one.searchPath)]))
  return schedulers[schedule](planned, (one) => paths.get(one)!)
}

function withTenant(tenant: string, [first, ...rest]: readonly number[]): (string | number)[] {
  return first === undefined ? [] : [`${tenant}/${first}`, ...rest]
}
