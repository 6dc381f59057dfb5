import { scheduleContexts } from '#scheduler/schedule-contexts.ts'
import type { PlannedRequest } from './offline-policy.ts'

/** Schedules ordered requests by their search paths (Algorithm 5) and counts their groups. */
export function scheduleBatch(ordered: readonly Omit<PlannedRequest, 'group'>[]): PlannedRequest[] {
  const groups = new Map<unknown, number>()
  return scheduleContexts(ordered, ({ searchPath }) => searchPath).map((planned) => {
    const key = planned.searchPath[0] ?? planned
    const group = groups.get(key) ?? groups.size
    groups.set(key, group)
    return { ...planned, group }
  })
}
