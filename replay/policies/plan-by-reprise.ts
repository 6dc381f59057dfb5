import { planContexts } from '#index/plan/plan-contexts.ts'
import type { ReplayRequest } from '../replay-request.ts'
import type { PlannedRequest } from './offline-policy.ts'

/** Offline mode as ours: contexts that share most are merged first, and the tree of the merges runs depth first. */
export function planByReprise(requests: readonly ReplayRequest[]): PlannedRequest[] {
  return planContexts(requests).map((planned) => ({ ...planned, request: requests[planned.request]! }))
}
