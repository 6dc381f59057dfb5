import { planContexts } from '#index/plan/plan-contexts.ts'
import type { ReplayRequest } from '../replay-request.ts'
import type { PlannedRequest } from './offline-policy.ts'

/** Our offline mode: merges the contexts that share most first, and runs the tree of merges depth first. */
export function planByReprise(requests: readonly ReplayRequest[]): PlannedRequest[] {
  return planContexts(requests).map((planned) => ({ ...planned, request: requests[planned.request]! }))
}
