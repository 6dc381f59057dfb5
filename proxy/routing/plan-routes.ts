import type { ConversationStore } from '#index/conversation-store.ts'
import { withPlannedTurns } from '../gain/planned-turns.ts'
import type { Layout } from '../prompt/layout.ts'
import { type Candidate, type PlannedRoute, type PlanState, planRoute } from './plan-route.ts'

/** What a prompt would be on the way to each replica; both lists are as long as the candidates that time has sufficed for. */
export interface PlannedRoutes {
  /** as planned */
  readonly planned: readonly PlannedRoute[]
  /** as sent: what is not done has no part in what is predicted, here or on other replicas */
  readonly sent: readonly PlannedRoute[]
}

export interface RoutesState {
  /** one at least */
  readonly candidates: readonly Candidate[]
  /** in shadow mode: how turns would have been sent */
  readonly plannedTurns?: Pick<ConversationStore, 'recall'> | undefined
}

/** Plans routes to all candidates, or to the first of them where time is short; in shadow mode all is sent as received. */
export function planRoutes(
  layout: Layout,
  { candidates, plannedTurns }: RoutesState,
  plan: PlanState,
  isShadow: boolean,
): PlannedRoutes {
  if (!isShadow) {
    const planned = planInTime(layout, candidates, plan)
    return { planned, sent: planned }
  }
  // planned against what would be held, had all that was planned been sent
  const planning = plannedTurns ? withPlannedTurns(layout, plannedTurns) : layout
  const mirrored = candidates.map((own) => ({ ...own, mirror: own.planned?.() ?? own.mirror }))
  const planned = planInTime(planning, mirrored, plan)
  return { planned, sent: planned.map((_, at) => planAsReceived(layout, candidates[at]!, plan)) }
}

function planInTime(layout: Layout, candidates: readonly Candidate[], plan: PlanState): PlannedRoute[] {
  const routes: PlannedRoute[] = []
  for (const candidate of candidates) {
    if (routes.length > 0 && plan.budget?.isSpent) break
    routes.push(planRoute(layout, candidate, plan))
  }
  return routes
}

/** Nothing moved, nothing left out. */
function planAsReceived(layout: Layout, candidate: Candidate, { tenant, wording, options }: PlanState): PlannedRoute {
  return planRoute(layout, candidate, { tenant, wording, options: { ...options, reorder: false, dedup: false } })
}
