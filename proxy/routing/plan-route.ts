import { type AnyPositionReuse, recomputedShare } from '#engine-adapters/any-position-reuse.ts'
import type { BlockId } from '#index/context-block.ts'
import type { CacheMirror } from '#index/mirror/cache-mirror.ts'
import type { WorkBudget } from '../bounds/work-budget.ts'
import type { Layout } from '../prompt/layout.ts'
import type { RequestOptions } from '../request/call/request-options.ts'
import { reusePrompts } from '../reuse/reuse-prompt.ts'
import type { ReusedBody, ReusedContext, ReusedPrompt } from '../reuse/reused-prompt.ts'
import type { Wording } from '../reuse/wording.ts'

/** What of a replica is decided by. */
export interface Candidate {
  readonly mirror: CacheMirror
  /** what it would hold, had it been sent what was only planned */
  readonly planned?: (() => CacheMirror) | undefined
  /** undefined: it has not said how it caches */
  readonly cacheConfig?: { readonly pageTokens: number } | undefined
  /** how it reuses KV at any position; undefined: it does not */
  readonly reuse?: AnyPositionReuse | undefined
  /** whether it has computed a tenant's block, wherever that stood */
  readonly hasProcessed?: ((tenant: string, block: BlockId) => boolean) | undefined
}

/** A way to send a request: to one replica, in the order that it holds. */
export interface Route {
  readonly promptTokens: number
  readonly predictedCachedTokens: number
  /** behind these, what is taken over from another position and not computed again; undefined: nothing ever is */
  readonly predictedReusedTokens?: number | undefined
  readonly contexts: readonly ReusedContext[]
}

/** A route with the prompts that go there. */
export interface PlannedRoute extends Route {
  readonly reused: ReusedBody
  /** by prompt: how many of its characters will stand in the exact cache; undefined: all of them */
  readonly exactLengths: readonly (number | undefined)[]
  /** blocks would have been moved, were what the engine reuses wherever it stands not enough */
  readonly isReuseEnough: boolean
}

/** For whom prompts are planned, and how. */
export interface PlanState {
  readonly tenant: string
  readonly options: RequestOptions
  readonly wording: Wording
  /** blocks are moved only where that saves more than the annotation takes */
  readonly mustPay?: boolean | undefined
  /** what it may take */
  readonly budget?: WorkBudget | undefined
}

/**
 * How the prompts of a body are sent to one replica, and what it will find of them. Blocks stay as received where moving
 * them saves less than the annotation costs: for an engine that reuses at any position, of what it would compute again;
 * for others, where moves must pay, now and, as far as the past tells, later. Changes nothing.
 */
export function planRoute(layout: Layout, candidate: Candidate, state: PlanState): PlannedRoute {
  const { tenant, wording, options, budget } = state
  budget?.look()
  const ordered = plan(layout, candidate, state)
  const share = recomputedShare(candidate.reuse, options.reuse)
  const left = { ...ordered, isReuseEnough: false }
  const most = candidate.mirror.estimateTokens(annotationLength(ordered))
  const isSettled = share === undefined && (!state.mustPay || most === 0 || mayPayLater(ordered, candidate, most))
  if (isSettled || !ordered.contexts.some(isMoved)) return left
  const asReceived = plan(layout, candidate, { tenant, wording, budget, options: { ...options, reorder: false } })
  const isOrderedAnew = ordered.contexts.some(({ order }, i) => {
    const before = asReceived.contexts[i]!.order
    return order.some((from, place) => from !== before[place])
  })
  if (!isOrderedAnew) return left
  const cost = candidate.mirror.estimateTokens(annotationLength(ordered) - annotationLength(asReceived))
  const gained = ordered.predictedCachedTokens - asReceived.predictedCachedTokens
  if (share !== undefined) {
    const isReuseEnough = share * gained <= cost
    return { ...(isReuseEnough ? asReceived : ordered), isReuseEnough }
  }
  return gained >= cost ? left : { ...asReceived, isReuseEnough: false }
}

/**
 * Whether the order may pay for itself later, whatever is saved now: some past request has more in common with it than an
 * annotation takes, so one to come may share that. Also where the past is not known.
 */
function mayPayLater({ contexts }: Route, { mirror }: Candidate, cost: number): boolean {
  return contexts.filter(isMoved).some(({ mostShared }) => {
    return mostShared === undefined || mirror.estimateTokens(mostShared) > cost
  })
}

function isMoved({ order }: ReusedContext): boolean {
  return order.some((from, place) => from !== place)
}

/** In characters. */
function annotationLength({ contexts }: Route): number {
  return contexts.reduce((sum, { annotation }) => sum + (annotation?.length ?? 0), 0)
}

function plan(layout: Layout, candidate: Candidate, state: PlanState): Omit<PlannedRoute, 'isReuseEnough'> {
  const { mirror, cacheConfig, reuse } = candidate
  const reused = reusePrompts(layout, { mirror, ...state })
  const { prompts } = reused
  const inPages = (tokens: number): number => tokens - (tokens % (cacheConfig?.pageTokens ?? 1))
  const share = recomputedShare(reuse, state.options.reuse) ?? 1
  const stretches = prompts.map((prompt) => (share < 1 ? findReusable(prompt, candidate, state.tenant) : []))
  const reusable = stretches.flat().reduce((sum, { start, end }) => sum + end - start, 0)
  return {
    reused,
    promptTokens: prompts.reduce((sum, { sent }) => sum + mirror.estimatePromptTokens(sent), 0),
    predictedCachedTokens: prompts.reduce((sum, { sent }) => sum + inPages(mirror.predictCachedTokens(sent)), 0),
    predictedReusedTokens: reuse && Math.floor((1 - share) * mirror.estimateTokens(reusable)),
    // nothing behind what is reused is exact
    exactLengths: stretches.map((own) => (own.length > 0 ? Math.min(...own.map(({ start }) => start)) : undefined)),
    contexts: prompts.flatMap(({ contexts }) => contexts),
  }
}

/** Where in a prompt as sent the blocks stand, behind the cached prefix and in full, that the replica has processed. */
function findReusable(
  { contexts, sent }: ReusedPrompt,
  { mirror, hasProcessed }: Candidate,
  tenant: string,
): { readonly start: number; readonly end: number }[] {
  const prefix = mirror.predictCachedLength(sent)
  return contexts.flatMap(({ found, order, pointers, ends }) => {
    const cut = new Set(pointers.map(({ place }) => place))
    return order.flatMap((from, place) => {
      const end = ends[place]!
      if (end <= prefix || cut.has(place) || !hasProcessed?.(tenant, found.contents[from]!)) return []
      const { content } = found.slots[from]!
      return [{ start: end - (content.end - content.start), end }]
    })
  })
}
