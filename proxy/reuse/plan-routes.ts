import type { ConversationStore } from '#index/conversation-store.ts'
import type { Layout } from '../prompt/layout.ts'
import { type Candidate, type PlannedRoute, type PlanState, planRoute } from './plan-route.ts'
import { withPlannedTurns } from './planned-turns.ts'

/** The prompts planned for each replica; both lists cover as many candidates as there was time for. */
interface PlannedRoutes {
  /** as planned */
  readonly planned: readonly PlannedRoute[]
  /** as sent: what is not done does not count in predictions, here or on other replicas */
  readonly sent: readonly PlannedRoute[]
}

interface RoutesState {
  /** at least one */
  readonly candidates: readonly Candidate[]
  /** in shadow mode: how turns would have been sent */
  readonly plannedTurns?: Pick<ConversationStore, 'recall'> | undefined
}

/**
 * Plans routes to all candidates, or to the first few if time is short. In shadow mode everything is sent as received.
 */
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
  // plan against what would be held if everything planned had been sent
  const planning = plannedTurns ? withPlannedTurns(layout, plannedTurns) : layout
  const mirrored = candidates.map((own) => ({ ...own, mirror: own.planned?.() ?? own.mirror }))
  const planned = planInTime(planning, mirrored, plan)
  return { planned, sent: planned.map((_, at) => planAsReceived(layout, candidates[at]!, plan)) }
}

/** Plans routes on which everything is sent as received. */
export function planRoutesAsReceived(layout: Layout, { candidates }: RoutesState, plan: PlanState): PlannedRoutes {
  const routes = candidates.map((candidate) => planAsReceived(layout, candidate, plan))
  return { planned: routes, sent: routes }
}

function planInTime(layout: Layout, candidates: readonly Candidate[], plan: PlanState): PlannedRoute[] {
  const routes: PlannedRoute[] = []
  for (const candidate of candidates) {
    if (routes.length > 0 && plan.budget?.isSpent) break
    routes.push(planRoute(layout, candidate, plan))
  }
  return routes
}

/** Plans a route with nothing moved and nothing left out. */
function planAsReceived(layout: Layout, candidate: Candidate, { tenant, wording, options }: PlanState): PlannedRoute {
  return planRoute(layout, candidate, { tenant, wording, options: { ...options, reorder: false, dedup: false } })
}
