import type { KnownTurns, SentOrder, SentTurn } from '#index/conversation-store.ts'
import type { LaidOutMessage, Layout } from '../prompt/layout.ts'
import type { DecisionState } from './decision.ts'
import { type Candidate, type PlannedRoute, type PlanState, planRoute } from './plan-route.ts'

/** The prompts planned for each replica; both lists cover as many candidates as there was time for. */
interface PlannedRoutes {
  /** as planned */
  readonly planned: readonly PlannedRoute[]
  /** as sent: what is not done does not count in predictions, here or on other replicas */
  readonly sent: readonly PlannedRoute[]
}

type RoutesState = Pick<DecisionState, 'candidates' | 'plannedTurns'>

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

/** Returns the layout with past turns as they would have been sent if everything planned had been sent. */
function withPlannedTurns(layout: Layout, turns: KnownTurns): Layout {
  const prompts = layout.prompts.map((prompt) => ({
    ...prompt,
    messages: prompt.messages.map((message) => ({ ...message, past: recall(message, turns) ?? message.past })),
  }))
  return { ...layout, prompts }
}

function recall({ keys }: LaidOutMessage, turns: KnownTurns): readonly SentOrder[] | undefined {
  for (const key of keys) {
    const planned = turns.recall(key)
    if (planned) return ordersOf(planned)
  }
  return undefined
}

function ordersOf(turn: SentTurn): readonly SentOrder[] | undefined {
  if (turn.kind === 'ordered') return turn.contexts
  return turn.kind === 'explicit' ? [turn.context] : undefined
}
